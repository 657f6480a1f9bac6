/**
 * A filter as rules of nftables. `return` accepts: whoever asked goes on to the next question, such as the filter of a
 * second machine on this host that the packet is for. Whether a packet belongs to what was accepted is asked before.
 */
import { parseCidr } from '../../../../kernel/cidr.ts';
import type { Filter, FilterRule } from '../../../../ports/network.ts';

type Range = readonly [low: number, high: number];

const PORT_MAX = 65_535;

/** The statements of one direction's chain, in their order. Without a filter there are none: everything passes. */
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

/** The remote peer, which is also what keeps a rule to its family. */
function matchRemote({ direction, remote }: FilterRule, family: 4 | 6): string {
  // nftables would make nothing of a match that every address of the family fits.
  if (remote.endsWith('/0')) return `meta nfproto ipv${family}`;
  return `${family === 4 ? 'ip' : 'ip6'} ${direction === 'in' ? 'saddr' : 'daddr'} ${remote}`;
}

/** Null when no packet can match: ports of a protocol that has none. */
function matchProtocol({ proto, ports }: FilterRule, family: 4 | 6): string | null {
  const set = ports.length > 0 ? portSet(ports) : null;
  if (proto === 'icmp') return set ? null : `meta l4proto ${family === 4 ? 'icmp' : 'ipv6-icmp'}`;
  if (proto === 'any') return set ? `meta l4proto { tcp, udp } th dport ${set}` : '';
  return set ? `${proto} dport ${set}` : `meta l4proto ${proto}`;
}

/** A peer that is rejected is told so in its protocol's own way. */
function verdicts({ action, proto }: FilterRule): string[] {
  const reset = 'reject with tcp reset';
  const unreachable = 'reject with icmpx port-unreachable';
  if (action === 'accept') return ['return'];
  if (action === 'drop') return ['drop'];
  if (proto === 'tcp') return [reset];
  return proto === 'any' ? [`meta l4proto tcp ${reset}`, unreachable] : [unreachable];
}

/** nftables refuses a set whose ranges overlap. */
function portSet(ports: readonly Range[]): string {
  const merged: [number, number][] = [];
  for (const [low, high] of ports.toSorted((a, b) => a[0] - b[0])) {
    if (!(Number.isInteger(low) && Number.isInteger(high) && 0 <= low && low <= high && high <= PORT_MAX)) {
      throw new Error('not a range of ports');
    }
    const last = merged.at(-1);
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return `{ ${merged.map(([low, high]) => (low === high ? low : `${low}-${high}`)).join(', ')} }`;
}

/** Also the guard that nothing but a CIDR becomes a word of a rule. */
function familyOf(cidr: string): 4 | 6 {
  const block = parseCidr(cidr);
  if (!block) throw new Error('not a CIDR');
  return block.family;
}
