/**
 * The spoofing guard: the first rules that a packet of a guest meets, before the host does anything with it.
 * A guest sends only from its own MAC and addresses, answers only for itself, and is no router or DHCP
 * server.
 *
 * To forbid one more thing, add a statement here. It is matched against each packet of the machine's tap.
 */
import { parseCidr } from '../../../../kernel/cidr.ts';
import type { AddressFamily } from '../../../../ports/network.ts';
import { GATEWAY_V6, type MachineLink } from './link.ts';

/** Contains `GATEWAY_V6` as its first address. */
const LINK_LOCAL = 'fe80::/64';
/** The host keeps a neighbor entry for at least five seconds. */
const OVER_SOLICIT_RATE = 'limit rate over 10/second burst 40 packets';

/** For IPv4 and IPv6. */
export function guardStatements(
  { mac, ipv4, ipv6 }: MachineLink,
  blackholed: readonly AddressFamily[] = [],
): string[] {
  const advert = 'icmpv6 type nd-neighbor-advert';
  // The target of an advertisement, by its offset.
  const target = '@th,64,64';
  return [
    // A blackholed address sends nothing. What others send to it is dropped by its route.
    ...(blackholed.includes(4) ? [`ip saddr ${ipv4.address} drop`] : []),
    ...(blackholed.includes(6) ? [`ip6 saddr ${ipv6.prefix} drop`] : []),
    // Source addresses. Only neighbor discovery may have none.
    `ether saddr != ${mac} drop`,
    `ip saddr != ${ipv4.address} drop`,
    `ip6 saddr != { ::, ${LINK_LOCAL}, ${ipv6.prefix} } drop`,
    `ip6 saddr ${GATEWAY_V6} drop`,
    'ip6 saddr :: meta l4proto != ipv6-icmp drop',
    // Routers and neighbors: a guest announces no routes, and only its own addresses.
    'icmpv6 type { nd-router-advert, nd-redirect } drop',
    `${advert} ${target} != ${networkHex(ipv6.prefix)} ${target} != ${networkHex(LINK_LOCAL)} drop`,
    `${advert} @th,64,128 ${networkHex(LINK_LOCAL)}0000000000000001 drop`,
    // DHCP servers.
    'udp sport 67 udp dport 68 drop',
    'udp sport 547 udp dport 546 drop',
    // Floods. Every sender that the host answers becomes an entry of its neighbor table, which all machines
    // share. A guest normally asks for its gateway about once a minute.
    `icmpv6 type { nd-neighbor-solicit, nd-router-solicit } ${OVER_SOLICIT_RATE} drop`,
    `ip6 saddr ${LINK_LOCAL} ${OVER_SOLICIT_RATE} drop`,
  ];
}

export function arpStatements({ mac, ipv4 }: MachineLink): string[] {
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
