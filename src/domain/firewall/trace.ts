/** Finds the verdict of a filter about a packet and the rule that decides, for the panel's packet check. */
import { hostCidr, isSubnet, parseCidr } from '../../kernel/cidr.ts';
import type { Filter, FilterRule } from '../../ports/network.ts';

/** The first packet of a flow. Replies to an accepted packet pass without a rule. */
export interface TracedPacket {
  readonly direction: FilterRule['direction'];
  /** `other`: a protocol that only rules for any protocol match. */
  readonly proto: 'tcp' | 'udp' | 'icmp' | 'other';
  /** Null if the protocol has none. */
  readonly port: number | null;
  readonly remote: string;
}

export interface PacketTrace {
  readonly verdict: FilterRule['action'];
  /** The index of the matching rule; null if the default decides. */
  readonly rule: number | null;
}

/** Rules are tried in their order, as drivers do, and the first match decides. */
export function tracePacket(filter: Filter, packet: TracedPacket): PacketTrace {
  const rule = filter.rules.findIndex((each) => matches(each, packet));
  const byDefault = packet.direction === 'in' ? filter.defaultIn : filter.defaultOut;
  return { verdict: filter.rules[rule]?.action ?? byDefault, rule: rule < 0 ? null : rule };
}

function matches(rule: FilterRule, { direction, proto, port, remote }: TracedPacket): boolean {
  if (rule.direction !== direction) return false;
  if (rule.proto !== 'any' && rule.proto !== proto) return false;
  const hasPort =
    rule.ports.length === 0 || rule.ports.some(([low, high]) => port !== null && low <= port && port <= high);
  const block = parseCidr(rule.remote);
  const host = hostCidr(remote);
  return hasPort && block !== undefined && host !== undefined && isSubnet(host, block);
}
