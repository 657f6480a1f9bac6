/**
 * Translates a filter into nftables rules. `return` accepts: the calling chain continues, for example with
 * the filter of another machine on this host that the packet is for. Established connections are accepted
 * before these rules.
 */
import { parseCidr } from '../../../../kernel/cidr.ts';
import type { Filter, FilterRule } from '../../../../ports/network.ts';

type Range = readonly [low: number, high: number];

const PORT_MAX = 65_535;

/**
 * Returns the ordered statements of one direction. Without a filter there are none, and everything passes.
 */
export function filterStatements(filter: Filter | null, direction: FilterRule['direction']): string[] {
  if (!filter) return [];
  const rules = filter.rules.filter((rule) => rule.direction === direction).flatMap(ruleStatements);
  const defaultAction = direction === 'in' ? filter.defaultIn : filter.defaultOut;
  return defaultAction === 'drop' ? [...rules, 'drop'] : rules;
}

function ruleStatements(rule: FilterRule): string[] {
  const family = familyOf(rule.remote);
  const remoteMatch = matchRemote(rule, family);
  const protocolMatch = matchProtocol(rule, family);
  if (protocolMatch === null) return [];
  return verdicts(rule).map((verdict) =>
    [remoteMatch, protocolMatch, verdict].filter((part) => part !== '').join(' '),
  );
}

/** Matches the remote address, which also limits the rule to its address family. */
function matchRemote({ direction, remote }: FilterRule, family: 4 | 6): string {
  // nftables drops a match on a whole address family, so match the family explicitly.
  if (remote.endsWith('/0')) return `meta nfproto ipv${family}`;
  return `${family === 4 ? 'ip' : 'ip6'} ${direction === 'in' ? 'saddr' : 'daddr'} ${remote}`;
}

/** Returns null if no packet can match: ports on a protocol that has none. */
function matchProtocol({ proto, ports }: FilterRule, family: 4 | 6): string | null {
  const set = ports.length > 0 ? portSet(ports) : null;
  if (proto === 'icmp') return set ? null : `meta l4proto ${family === 4 ? 'icmp' : 'ipv6-icmp'}`;
  if (proto === 'any') return set ? `meta l4proto { tcp, udp } th dport ${set}` : '';
  return set ? `${proto} dport ${set}` : `meta l4proto ${proto}`;
}

/** A rejected packet is answered in the way of its protocol. */
function verdicts({ action, proto }: FilterRule): string[] {
  const reset = 'reject with tcp reset';
  const unreachable = 'reject with icmpx port-unreachable';
  if (action === 'accept') return ['return'];
  if (action === 'drop') return ['drop'];
  if (proto === 'tcp') return [reset];
  return proto === 'any' ? [`meta l4proto tcp ${reset}`, unreachable] : [unreachable];
}

/** Merges ranges, because nftables rejects a set whose ranges overlap. */
function portSet(ports: readonly Range[]): string {
  const merged: [number, number][] = [];
  for (const [low, high] of ports.toSorted((a, b) => a[0] - b[0])) {
    if (!(Number.isInteger(low) && Number.isInteger(high) && 0 <= low && low <= high && high <= PORT_MAX)) {
      throw new Error('not a port range');
    }
    const last = merged.at(-1);
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return `{ ${merged.map(([low, high]) => (low === high ? low : `${low}-${high}`)).join(', ')} }`;
}

/** Also guarantees that only a CIDR becomes part of a rule. */
function familyOf(cidr: string): 4 | 6 {
  const block = parseCidr(cidr);
  if (!block) throw new Error('not a CIDR');
  return block.family;
}
