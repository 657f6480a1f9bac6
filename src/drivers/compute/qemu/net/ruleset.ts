/**
 * The nftables tables `skerry`, as text for `nft -f -`. Each text is one transaction: the kernel applies all
 * of it or nothing, and no packet meets a partial state. Every statement is an *ensure*, including the
 * tables, so flushed rules are complete again with the next text.
 *
 * A packet from a guest first passes the spoofing check (`guards`). If it is forwarded, it then passes the
 * filter of its machine (`leaving`) and, if it is for another machine here, that machine's filter
 * (`entering`). Interfaces are matched by name, so rules can exist before their interface.
 *
 * Each rule has a comment with the digest of its chain and its position. `installed-rules.ts` compares these
 * comments, because nft prints rules differently from version to version.
 */
import { createHash } from 'node:crypto';
import { parseCidr } from '../../../../kernel/cidr.ts';
import type { Traffic } from '../../../../ports/compute.ts';
import type { Filter } from '../../../../ports/network.ts';
import { filterStatements } from './filter-statements.ts';
import { GATEWAY_V6, type MachineLink } from './link.ts';

export const INET = 'inet skerry';
const ARP = 'arp skerry';
export const TABLES = [INET, ARP] as const;
export type Table = (typeof TABLES)[number];
/** Contains `GATEWAY_V6` as its first address. */
const LINK_LOCAL = 'fe80::/64';
/** The host keeps a neighbor entry for at least five seconds. */
const OVER_SOLICIT_RATE = 'limit rate over 10/second burst 40 packets';
/** The set of all plugged taps. */
export const GUESTS = 'guests';
/**
 * All machines of a host share the kernel's connection table. `ct count` is no option: for each new
 * connection it walks all connections of the machine, which costs more than it saves.
 */
const NEW_CONNECTION_LIMIT = 'ct state new limit rate over 2000/second burst 20000 packets drop';
/** Distinguishes versions of a chain, not forgeries. */
const DIGEST_CHARS = 8;

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
const FORWARD: Chain = {
  table: INET,
  name: 'forward',
  hook: 'forward priority filter',
  statements: [
    // Check port 25 before connection tracking: a stranger could open a connection in the name of a mail
    // server, and the guest's SYN would then count as established.
    'tcp dport 25 tcp flags & (syn | ack) == syn iifname vmap @leaving',
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
const ARP_INPUT: Chain = {
  table: ARP,
  name: 'input',
  hook: 'input priority filter',
  statements: ['iifname vmap @guards'],
};
/** Chains shared by all machines. */
export const SHARED_CHAINS: readonly Chain[] = [SOURCE, FORWARD, INPUT, ARP_INPUT];

const MAPS: readonly (readonly [table: Table, map: string, chain: (tap: string) => string])[] = [
  [INET, 'guards', guardChain],
  [INET, 'leaving', leavingChain],
  [INET, 'entering', enteringChain],
  [ARP, 'guards', guardChain],
];

function guardChain(tap: string): string {
  return `guard-${tap}`;
}
function leavingChain(tap: string): string {
  return `leaving-${tap}`;
}
function enteringChain(tap: string): string {
  return `entering-${tap}`;
}

/** Returns the machine's own chains: its guard and its filter. */
export function machineChains(link: MachineLink, filter: Filter | null, { mail }: Traffic): Chain[] {
  const { tap } = link;
  const leaving = [
    // A packet that the guest sends back to its own interface would loop until its TTL expires.
    `oifname ${tap} drop`,
    ...(mail ? [] : ['tcp dport 25 reject with tcp reset']),
    NEW_CONNECTION_LIMIT,
    ...filterStatements(filter, 'out'),
  ];
  return [
    { table: INET, name: guardChain(tap), statements: guardStatements(link) },
    { table: INET, name: leavingChain(tap), statements: leaving },
    { table: INET, name: enteringChain(tap), statements: filterStatements(filter, 'in') },
    { table: ARP, name: guardChain(tap), statements: arpStatements(link) },
  ];
}

/** Returns the chain that packets of this tap jump to, for each map. */
export function machineJumps(tap: string): readonly (readonly [table: Table, map: string, chain: string])[] {
  return MAPS.map(([table, map, chain]) => [table, map, chain(tap)]);
}

/** Returns the shared rules together with this machine's guard and filter. */
export function machineRules(link: MachineLink, filter: Filter | null, traffic: Traffic): string {
  const { tap } = link;
  return joinLines([
    ...sharedRules(),
    ...machineChains(link, filter, traffic).flatMap(chainLines),
    ...machineJumps(tap).map(([table, map, chain]) => element('add', table, map, `"${tap}" : jump ${chain}`)),
    element('add', INET, GUESTS, `"${tap}"`),
  ]);
}

/** Returns only the shared rules. */
export function sharedRuleset(): string {
  return joinLines(sharedRules());
}

/**
 * Returns the text to prepend to `machineRules` if jumps are wrong: adding the correct one does not replace
 * them.
 */
export function removeJumps(tap: string, maps: readonly (readonly [table: Table, map: string])[]): string {
  return joinLines(maps.map(([table, map]) => element('delete', table, map, `"${tap}"`)));
}

/** Removes a machine's rules. Adds them first, because nft fails to delete what does not exist. */
export function removeMachineRules(tap: string): string {
  return joinLines([
    ...sharedRules(),
    ...machineJumps(tap).flatMap(([table, map, chain]) => [
      `add chain ${table} ${chain}`,
      `flush chain ${table} ${chain}`,
      element('add', table, map, `"${tap}" : jump ${chain}`),
      element('delete', table, map, `"${tap}"`),
      `delete chain ${table} ${chain}`,
    ]),
    element('add', INET, GUESTS, `"${tap}"`),
    element('delete', INET, GUESTS, `"${tap}"`),
  ]);
}

function sharedRules(): string[] {
  return [
    ...[INET, ARP].map((table) => `add table ${table}`),
    `add set ${INET} ${GUESTS} { type ifname; }`,
    ...MAPS.map(([table, map]) => `add map ${table} ${map} { type ifname : verdict; }`),
    ...SHARED_CHAINS.flatMap((chain) => [
      `add chain ${chain.table} ${chain.name} { type filter hook ${chain.hook}; policy accept; }`,
      ...chainLines(chain),
    ]),
  ];
}

function chainLines(chain: Chain): string[] {
  const { table, name, statements } = chain;
  const comments = ruleComments(chain);
  const rules = statements.map((each, at) => `add rule ${table} ${name} ${each} comment "${comments[at]}"`);
  return [`add chain ${table} ${name}`, `flush chain ${table} ${name}`, ...rules];
}

/** Returns the comments of the chain's rules, in order. */
export function ruleComments({ statements }: Chain): string[] {
  const digest = createHash('sha256')
    .update(statements.join('\n'))
    .digest('base64url')
    .slice(0, DIGEST_CHARS);
  return statements.map((_, at) => `${digest} ${at + 1}`);
}

function element(verb: 'add' | 'delete', table: Table, name: string, content: string): string {
  return `${verb} element ${table} ${name} { ${content} }`;
}

/** Allows only the guest's own MAC, address, prefix, and link-local traffic. */
function guardStatements({ mac, ipv4, ipv6 }: MachineLink): string[] {
  const advert = 'icmpv6 type nd-neighbor-advert';
  const target = '@th,64,64';
  return [
    `ether saddr != ${mac} drop`,
    `ip saddr != ${ipv4.address} drop`,
    `ip6 saddr != { ::, ${LINK_LOCAL}, ${ipv6.prefix} } drop`,
    `ip6 saddr ${GATEWAY_V6} drop`,
    'ip6 saddr :: meta l4proto != ipv6-icmp drop',
    // A guest is not a router and answers only for itself. Match the target of an advertisement by offset.
    'icmpv6 type { nd-router-advert, nd-redirect } drop',
    `${advert} ${target} != ${networkHex(ipv6.prefix)} ${target} != ${networkHex(LINK_LOCAL)} drop`,
    `${advert} @th,64,128 ${networkHex(LINK_LOCAL)}0000000000000001 drop`,
    'udp sport 67 udp dport 68 drop',
    'udp sport 547 udp dport 546 drop',
    // Every sender that the host answers becomes an entry of its neighbor table, which all machines share. A
    // guest normally asks for its gateway about once a minute.
    `icmpv6 type { nd-neighbor-solicit, nd-router-solicit } ${OVER_SOLICIT_RATE} drop`,
    `ip6 saddr ${LINK_LOCAL} ${OVER_SOLICIT_RATE} drop`,
  ];
}

function arpStatements({ mac, ipv4 }: MachineLink): string[] {
  return [
    `ether saddr != ${mac} drop`,
    `arp saddr ether != ${mac} drop`,
    `arp saddr ip != ${ipv4.address} drop`,
  ];
}

/** The first 64 bits of an IPv6 network as a hexadecimal number. */
function networkHex(prefix: string): string {
  const block = parseCidr(prefix);
  if (!block) throw new Error('not a prefix');
  return `0x${(block.first >> 64n).toString(16).padStart(16, '0')}`;
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
