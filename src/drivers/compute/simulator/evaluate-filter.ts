/** What a packet filter does with a packet. The simulator keeps filters; this is how it is asked about them. */
import { BlockList, isIP } from 'node:net';
import type { Filter, FilterRule } from '../../../ports/network.ts';

/** The first packet of a flow: answers to what was accepted pass, because the filter is stateful. */
export interface Packet {
  readonly direction: 'in' | 'out';
  readonly proto: 'tcp' | 'udp' | 'icmp' | 'other';
  /** The port it goes to: ours when it comes in, the peer's when it goes out. Null where the protocol has none. */
  readonly port: number | null;
  /** The peer's address, v4 or v6. */
  readonly remote: string;
}

/** The first rule that matches decides; without one, or without a filter, the default does. */
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

/** A v4 block never holds a v6 address, nor the other way round, mapped ones included. */
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
