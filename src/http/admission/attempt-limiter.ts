/**
 * Limits attempts per hour from one address, in this process's memory only. The address is stored as a keyed
 * hash whose key is lost with the process. IPv6 addresses count by their /64, because a provider assigns one
 * to each customer.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts';

const ADDRESSES_MAX = 50_000;

export class AttemptLimiter {
  readonly #perHour: number;
  readonly #now: () => number;
  readonly #key = randomBytes(32);
  /** The time until which an address's attempts count, in ms. Oldest attempt first. */
  readonly #usedUntilMs = new BoundedMap<string, number>(ADDRESSES_MAX);

  /** `perHour` 0 means no limit. `now` is real time, in ms. */
  constructor(perHour: number, now: () => number = Date.now) {
    this.#perHour = perHour;
    this.#now = now;
  }

  /** Counts one attempt and returns 0. Over the limit, counts nothing and returns the seconds to wait. */
  consume(address: string): number {
    if (this.#perHour === 0) return 0;
    const now = this.#now();
    const name = this.#hashAddress(address);
    const until = Math.max(this.#usedUntilMs.get(name) ?? 0, now) + this.#costMs;
    const waitMs = until - now - HOUR_MS;
    // Allow half an attempt of tolerance: rounding may push `perHour` attempts slightly over an hour.
    if (waitMs > this.#costMs / 2) return Math.ceil(waitMs / SECOND_MS);
    // Deleted first, so that the address becomes the newest.
    this.#usedUntilMs.delete(name);
    this.#usedUntilMs.set(name, until);
    return 0;
  }

  /** Removes the last attempt from the count, for outcomes that do not count. */
  refund(address: string): void {
    if (this.#perHour === 0) return;
    const name = this.#hashAddress(address);
    const until = this.#usedUntilMs.get(name);
    if (until !== undefined) this.#usedUntilMs.set(name, until - this.#costMs);
  }

  get #costMs(): number {
    return HOUR_MS / this.#perHour;
  }

  #hashAddress(address: string): string {
    return createHmac('sha256', this.#key).update(addressNetwork(address)).digest('base64');
  }
}

/** Returns an IPv4 address unchanged (unmapped if mapped), and the first four groups of an IPv6 address. */
export function addressNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1]) return mapped[1];
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  const tailGroups = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : 8 - groups.length - tailGroups.length;
  const allGroups = [...groups, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...tailGroups];
  return allGroups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
