/**
 * The buckets that count an address. IPv6 counts by /64, /56, and /48, because providers assign all three to
 * one customer, and a wider network may hold several of them.
 */
import { isIPv6 } from 'node:net';
import type { AttemptBucket } from '../../domain/sessions/attempts.ts';

/** Each with its limit, as a multiple of the limit of one address. */
const IPV6_NETWORKS = [
  { bits: 64, times: 1 },
  { bits: 56, times: 2 },
  { bits: 48, times: 4 },
] as const;

/** `perHour` 0: no limit. */
export function addressBuckets(kind: string, address: string, perHour: number): AttemptBucket[] {
  if (perHour === 0) return [];
  return addressNetworks(address).map(({ network, times }) => ({
    name: `${kind} ${network}`,
    perHour: perHour * times,
  }));
}

/** Returns an IPv4 address (unmapped if mapped), or the networks of an IPv6 address. */
export function addressNetworks(address: string): readonly { network: string; times: number }[] {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1]) return [{ network: mapped[1], times: 1 }];
  if (!isIPv6(address)) return [{ network: address, times: 1 }];
  const hex = expandedGroups(address)
    .map((group) => group.toString(16).padStart(4, '0'))
    .join('');
  return IPV6_NETWORKS.map(({ bits, times }) => ({ network: `${hex.slice(0, bits / 4)}/${bits}`, times }));
}

/** Returns the eight groups. An embedded IPv4 address is in the last two, which no network here reaches. */
function expandedGroups(address: string): number[] {
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const read = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [first, last] = [read(head), read(tail ?? '')];
  return [...first, ...Array<number>(Math.max(8 - first.length - last.length, 0)).fill(0), ...last];
}
