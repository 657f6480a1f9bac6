/**
 * The rules of the packet filter, chain by chain, in the order in which a packet meets them:
 *
 *   from a guest to the host    `source` → guard of its machine → `input` → leaving of its machine
 *   from a guest to elsewhere   `source` → guard of its machine → `forward` → leaving of its machine
 *   from elsewhere to a guest   `forward` → entering of its machine, also if the sender is a guest
 *   from a QEMU process         `output`: only to the Ceph cluster; its guest's packets come from its tap
 *   ARP of a guest              `input` of the ARP table → guard of its machine
 *
 * This is the place to change a rule of all machines. The guard is in `guard.ts`, and a customer's firewall
 * becomes statements in `customer-filter.ts`. A changed chain is replaced on each host by the next repair.
 */
import { GUEST_UIDS } from '../machine/isolation.ts';
import type { MachineRecord } from '../record.ts';
import { filterStatements } from './customer-filter.ts';
import { arpStatements, guardStatements } from './guard.ts';
import type { MachineLink } from './link.ts';
import { privateNetworkStatements } from './private-networks.ts';

export const INET = 'inet skerry';
const ARP = 'arp skerry';
export const TABLES = [INET, ARP] as const;
export type Table = (typeof TABLES)[number];
/** The set of all plugged taps. */
export const GUESTS = 'guests';

export interface Chain {
  readonly table: Table;
  readonly name: string;
  /** Netfilter hook of a base chain, whose policy is to accept. Other chains are reached by a jump. */
  readonly hook?: string;
  readonly statements: readonly string[];
}

const SOURCE: Chain = {
  table: INET,
  name: 'source',
  hook: 'prerouting priority raw',
  statements: ['iifname vmap @guards'],
};
/** Outbound mail, which a guest needs permission for. */
const MAIL = 'tcp dport 25';
const FORWARD: Chain = {
  table: INET,
  name: 'forward',
  hook: 'forward priority filter',
  statements: [
    // Check mail before connection tracking: a stranger could open a connection in the name of a mail
    // server, and the guest's SYN would then count as established.
    `${MAIL} tcp flags & (syn | ack) == syn iifname vmap @leaving`,
    // ICMP errors about accepted packets are related. Others are forged or refer to an expired connection.
    'ct state established,related accept',
    // Path MTU discovery needs these even if the responses take another route.
    'icmpv6 type packet-too-big accept',
    'iifname vmap @leaving',
    'oifname vmap @entering',
  ],
};
const INPUT: Chain = {
  table: INET,
  name: 'input',
  hook: 'input priority filter',
  statements: [
    'iifname @guests ct state established,related accept',
    'iifname @guests icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, nd-router-solicit } accept',
    'iifname vmap @leaving',
    'iifname @guests meta l4proto { icmp, ipv6-icmp } accept',
    'iifname @guests tcp dport { 80, 443 } accept',
    'iifname @guests drop',
  ],
};
/** The networks of the Ceph cluster, to which QEMU processes may connect. Empty without one. */
export const STORAGE_SETS = { ipv4_addr: 'storage4', ipv6_addr: 'storage6' } as const;
const QEMU_PROCESSES = `meta skuid ${GUEST_UIDS.first}-${GUEST_UIDS.last}`;
/** A guest that took over its QEMU has that process's sockets, which its tap's rules do not see. */
const OUTPUT: Chain = {
  table: INET,
  name: 'output',
  hook: 'output priority filter',
  statements: [
    `${QEMU_PROCESSES} meta l4proto tcp ip daddr @${STORAGE_SETS.ipv4_addr} accept`,
    `${QEMU_PROCESSES} meta l4proto tcp ip6 daddr @${STORAGE_SETS.ipv6_addr} accept`,
    `${QEMU_PROCESSES} reject with icmpx admin-prohibited`,
  ],
};
const ARP_INPUT: Chain = {
  table: ARP,
  name: 'input',
  hook: 'input priority filter',
  statements: ['iifname vmap @guards'],
};
/** Chains shared by all machines. */
export const SHARED_CHAINS: readonly Chain[] = [SOURCE, FORWARD, INPUT, OUTPUT, ARP_INPUT];

/**
 * All machines of a host share the kernel's connection table. `ct count` is no option: for each new
 * connection it walks all connections of the machine, which costs more than it saves.
 */
const NEW_CONNECTION_LIMIT = 'ct state new limit rate over 2000/second burst 20000 packets drop';

/**
 * Returns the machine's own chains: its guard and its filter. `allowed` are the private networks that it
 * reaches.
 */
export function machineChains(
  link: MachineLink,
  { filter, traffic }: Pick<MachineRecord, 'filter' | 'traffic'>,
  allowed: readonly string[],
): Chain[] {
  const { tap } = link;
  const leaving = [
    // A packet that the guest sends back to its own interface would loop until its TTL expires.
    `oifname ${tap} drop`,
    ...privateNetworkStatements(link, allowed),
    ...(traffic.mail ? [] : [`${MAIL} reject with tcp reset`]),
    NEW_CONNECTION_LIMIT,
    ...filterStatements(filter, 'out'),
  ];
  return [
    { table: INET, name: `guard-${tap}`, statements: guardStatements(link, traffic.blackholed) },
    { table: INET, name: `leaving-${tap}`, statements: leaving },
    { table: INET, name: `entering-${tap}`, statements: filterStatements(filter, 'in') },
    { table: ARP, name: `guard-${tap}`, statements: arpStatements(link) },
  ];
}

/** The maps that lead from a packet's tap to the machine's own chains. */
export const MAPS = [
  { table: INET, map: 'guards', chain: 'guard' },
  { table: INET, map: 'leaving', chain: 'leaving' },
  { table: INET, map: 'entering', chain: 'entering' },
  { table: ARP, map: 'guards', chain: 'guard' },
] as const;

/** An element of a map: the chain of one machine. */
export interface Jump {
  readonly table: Table;
  readonly map: string;
  readonly chain: string;
}

export function machineJumps(tap: string): Jump[] {
  return MAPS.map(({ table, map, chain }) => ({ table, map, chain: `${chain}-${tap}` }));
}
