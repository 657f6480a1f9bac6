/**
 * Decides what a packet filter does with a packet. The simulator stores filters, and tests evaluate them
 * here.
 */
import { BlockList, isIP } from 'node:net';
import type { Filter, FilterRule } from '../../../src/ports/network.ts';

/** The first packet of a flow. The filter is stateful, so responses to accepted packets pass. */
export interface Packet {
  readonly direction: 'in' | 'out';
  readonly proto: 'tcp' | 'udp' | 'icmp' | 'other';
  /** Destination port; null if the protocol has none. */
  readonly port: number | null;
  /** The remote IPv4 or IPv6 address. */
  readonly remote: string;
}

/**
 * The first matching rule decides. Without one the default applies, and without a filter everything passes.
 */
export function evaluateFilter(filter: Filter | null, packet: Packet): FilterRule['action'] {
  if (!filter) return 'accept';
  const rule = filter.rules.find((each) => matches(each, packet));
  return rule?.action ?? (packet.direction === 'in' ? filter.defaultIn : filter.defaultOut);
}

function matches(rule: FilterRule, packet: Packet): boolean {
  return (
    rule.direction === packet.direction &&
    (rule.proto === 'any' || rule.proto === packet.proto) &&
    (rule.ports.length === 0 || rule.ports.some((range) => isInRange(range, packet.port))) &&
    cidrContains(rule.remote, packet.remote)
  );
}

function isInRange([low, high]: readonly [number, number], port: number | null): boolean {
  return port !== null && low <= port && port <= high;
}

/** IPv4 blocks never contain IPv6 addresses and vice versa, including mapped ones. */
function cidrContains(cidr: string, address: string): boolean {
  const [network = '', length] = cidr.split('/');
  const family = isIP(network);
  if (family === 0 || length === undefined) throw new Error(`not a CIDR: ${cidr}`);
  if (isIP(address) !== family) return false;
  const familyName = family === 4 ? 'ipv4' : 'ipv6';
  const block = new BlockList();
  block.addSubnet(network, Number(length), familyName);
  return block.check(address, familyName);
}
