/**
 * The tables `skerry` of nftables, as text for `nft -f -`. Each text is one transaction: the kernel has all of it or
 * nothing, and no packet meets half of it. Everything in it says *ensure*, the tables themselves included, so a host
 * whose rules were flushed has them again with the next text.
 *
 * A packet from a guest is asked first who sent it (`guards`), then, where it is forwarded, what the filter of its
 * machine says (`leaving`) and, when it is for another machine here, that one's (`entering`). Interfaces are named
 * and not numbered, so rules may stand before their interface does.
 *
 * Each rule has a comment that tells its chain's whole text and its place in it, by which it is known again
 * (`standing.ts`): nft prints a rule in words and an order of its own, which differ by its version.
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
/** `GATEWAY_V6` is the first address in it. */
const LINK_LOCAL = 'fe80::/64';
/** The host forgets a neighbour after five seconds at the earliest. */
const OVER_SOLICIT_RATE = 'limit rate over 10/second burst 40 packets';
/** The set of all plugged taps. */
export const GUESTS = 'guests';
/**
 * All machines of a host share the kernel's table of connections. Not `ct count`: it goes through all that a machine has for
 * each new one, which is dearer than what it saves.
 */
const NEW_CONNECTION_LIMIT = 'ct state new limit rate over 2000/second burst 20000 packets drop';
/** Told apart are a chain's text of now and of before, not forgeries. */
const DIGEST_CHARS = 8;

export interface Chain {
  readonly table: Table;
  readonly name: string;
  /** Where the kernel asks it, if not a rule or a map does. Its policy is to accept. */
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
    // Before it is asked what belongs to a connection: one that a stranger began in the name of a mail server (who answers a
    // SYN with a SYN is of the connection, too) is no way around the mail rule.
    'tcp dport 25 tcp flags & (syn | ack) == syn iifname vmap @leaving',
    // Errors about what was accepted are related. Any other is forged, or about what is forgotten.
    'ct state established,related accept',
    // Without it a path's size is not found, also where the answers take another way.
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
/** Chains of all machines. */
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

/** The machine's own chains: its guard and its filter. */
export function machineChains(link: MachineLink, filter: Filter | null, { mail }: Traffic): Chain[] {
  const { tap } = link;
  const leaving = [
    // What the guest sends back to where it came from would go round until its time is over.
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

/** Where a packet of this tap is led, by map: the chain's name. */
export function machineJumps(tap: string): readonly (readonly [table: Table, map: string, chain: string])[] {
  return MAPS.map(([table, map, chain]) => [table, map, chain(tap)]);
}

/** What all machines share, and this one's guard and filter. */
export function machineRules(link: MachineLink, filter: Filter | null, traffic: Traffic): string {
  const { tap } = link;
  return joinLines([
    ...sharedRules(),
    ...machineChains(link, filter, traffic).flatMap(chainLines),
    ...machineJumps(tap).map(([table, map, chain]) => element('add', table, map, `"${tap}" : jump ${chain}`)),
    element('add', INET, GUESTS, `"${tap}"`),
  ]);
}

/** What all machines share, alone. */
export function sharedRuleset(): string {
  return joinLines(sharedRules());
}

/** For before `machineRules`: an element that leads elsewhere is not changed by adding the right one. */
export function removeJumps(tap: string, maps: readonly (readonly [table: Table, map: string])[]): string {
  return joinLines(maps.map(([table, map]) => element('delete', table, map, `"${tap}"`)));
}

/** Takes a machine's part away. What is to be deleted is added first: only what is there can be deleted. */
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

/** Of the chain's rules, in their order. */
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

/** Who a guest may say it is: its card, its address, its prefix and what only its own wire hears. */
function guardStatements({ mac, ipv4, ipv6 }: MachineLink): string[] {
  const advert = 'icmpv6 type nd-neighbor-advert';
  const target = '@th,64,64';
  return [
    `ether saddr != ${mac} drop`,
    `ip saddr != ${ipv4.address} drop`,
    `ip6 saddr != { ::, ${LINK_LOCAL}, ${ipv6.prefix} } drop`,
    `ip6 saddr ${GATEWAY_V6} drop`,
    'ip6 saddr :: meta l4proto != ipv6-icmp drop',
    // It is no router and answers for nobody else. The target of an advertisement is matched by its place in the packet.
    'icmpv6 type { nd-router-advert, nd-redirect } drop',
    `${advert} ${target} != ${networkHex(ipv6.prefix)} ${target} != ${networkHex(LINK_LOCAL)} drop`,
    `${advert} @th,64,128 ${networkHex(LINK_LOCAL)}0000000000000001 drop`,
    'udp sport 67 udp dport 68 drop',
    'udp sport 547 udp dport 546 drop',
    // Each sender that the host answers on the wire itself is an entry of its table of neighbours, which all machines
    // share. A guest asks for its gateway about once a minute.
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

/** The first 64 bits of an IPv6 network as one number. */
function networkHex(prefix: string): string {
  const block = parseCidr(prefix);
  if (!block) throw new Error('not a prefix');
  return `0x${(block.first >> 64n).toString(16).padStart(16, '0')}`;
}

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
