/**
 * Reverse DNS over the PowerDNS HTTP API. The list of zones is cached for ten seconds and fetched again
 * before an address is considered to have none. After a failure, requests fail fast for a moment, so that
 * many names don't each wait for a timeout. Response texts are never passed on, because they contain
 * addresses.
 */

import { ReverseZones } from '../../kernel/reverse-zones.ts';
import { DnsError, type ReverseDns } from '../../ports/dns.ts';
import { BodyTooLargeError, readBoundedBody } from '../read-bounded.ts';
import { toSendFault } from '../webhooks/send-faults.ts';

/** How long resolvers may cache a name. */
const TTL_S = 300;
const TIMEOUT_MS = 5_000;
const ZONE_CACHE_MS = 10_000;
const BACKOFF_MS = 1_000;
/** About 50,000 zones. */
const RESPONSE_MAX_BYTES = 16 * 1024 ** 2;
/** Zone kinds whose records can be edited here; the others are copies. */
const WRITABLE_KINDS = new Set(['native', 'master', 'primary', 'producer']);

export interface PowerDnsOptions {
  /** Address of the PowerDNS web server, without a path. */
  readonly url: string;
  readonly key: string;
  readonly timeoutMs?: number;
}

interface Zones {
  readonly reverse: ReverseZones;
  /** By name: the API's id, and whether the zone's records can be edited. */
  readonly byName: ReadonlyMap<string, { readonly id: string; readonly isOwn: boolean }>;
}

interface ApiResponse {
  readonly status: number;
  readonly text: string;
}

export class PowerDns implements ReverseDns {
  readonly #options: PowerDnsOptions;
  #zones: Promise<Zones> | undefined;
  #zonesFetchedAt = Number.NEGATIVE_INFINITY;
  #backoffUntil = 0;

  constructor(options: PowerDnsOptions) {
    this.#options = options;
  }

  async set(address: string, host: string | null): Promise<void> {
    for (const maxAgeMs of [ZONE_CACHE_MS, 0]) {
      const { reverse, byName } = await this.#cachedZones(maxAgeMs);
      const place = reverse.find(address);
      const zone = place && byName.get(place.zone);
      if (!place || !zone) continue;
      if (!zone.isOwn) {
        throw new DnsError(
          'refused',
          'the reverse zone is a secondary copy; change its names on its primary',
        );
      }
      if (await this.#writePtr(zone.id, place.name, host)) return;
    }
    if (host !== null) throw new DnsError('no_zone', 'PowerDNS has no zone for a reverse name');
  }

  async zones(): Promise<readonly string[]> {
    return [...(await this.#cachedZones(0)).byName.keys()];
  }

  async createZone(zone: string, nameservers: readonly string[]): Promise<boolean> {
    const [first = ''] = nameservers;
    const mailbox = `hostmaster.${first.slice(first.indexOf('.') + 1)}`;
    // The same TTL for negative answers: a new name becomes visible as soon as a changed one.
    const content = `${first} ${mailbox} 1 10800 3600 1209600 ${TTL_S}`;
    const soa = { name: zone, type: 'SOA', ttl: 3600, records: [{ content, disabled: false }] };
    // A primary notifies its secondaries of changes if it has any; otherwise it acts like a native zone.
    const wanted = { name: zone, kind: 'Master', nameservers, rrsets: [soa] };
    const { status } = await this.#request('POST', '/zones', wanted);
    this.#zones = undefined;
    if (status === 201) return true;
    if (status === 409) return false;
    throw new DnsError('refused', `PowerDNS did not create the zone: it responded with HTTP ${status}`);
  }

  /** Returns false if the zone no longer exists. */
  async #writePtr(zoneId: string, name: string, host: string | null): Promise<boolean> {
    const change =
      host === null
        ? { changetype: 'DELETE' }
        : { changetype: 'REPLACE', ttl: TTL_S, records: [{ content: `${host}.`, disabled: false }] };
    const rrsets = [{ name, type: 'PTR', ...change }];
    const { status } = await this.#request('PATCH', `/zones/${zoneId}`, { rrsets });
    if (status === 204 || status === 200) return true;
    if (status === 404) return false;
    throw new DnsError('refused', `PowerDNS rejected the reverse name: it responded with HTTP ${status}`);
  }

  /** Returns zones at most this old; concurrent callers that accept a cached answer share one request. */
  async #cachedZones(maxAgeMs: number): Promise<Zones> {
    const now = performance.now();
    if (this.#zones === undefined || now - this.#zonesFetchedAt > maxAgeMs) {
      this.#zonesFetchedAt = now;
      const asked = this.#fetchZones();
      this.#zones = asked;
      asked.catch(() => {
        if (this.#zones === asked) this.#zones = undefined;
      });
    }
    return await this.#zones;
  }

  async #fetchZones(): Promise<Zones> {
    const { status, text } = await this.#request('GET', '/zones?dnssec=false');
    const zones = status === 200 ? parseZones(text) : null;
    if (!zones) {
      const message = `SKERRY_DNS_URL: this is not a PowerDNS API (HTTP ${status}). Check the setting`;
      throw new DnsError('unreachable', message);
    }
    return { reverse: new ReverseZones(zones.keys()), byName: zones };
  }

  async #request(method: string, path: string, body?: object): Promise<ApiResponse> {
    const { url, key, timeoutMs = TIMEOUT_MS } = this.#options;
    if (performance.now() < this.#backoffUntil) throw unreachable('it failed to respond a moment ago');
    const answer = await fetch(`${url}/api/v1/servers/localhost${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
      .then(async (response): Promise<ApiResponse> => {
        return { status: response.status, text: await readBoundedBody(response, RESPONSE_MAX_BYTES) };
      })
      .catch((error: unknown) => {
        this.#backoffUntil = performance.now() + BACKOFF_MS;
        throw unreachable(describeFailure(error));
      });
    if (answer.status === 401 || answer.status === 403) {
      throw new DnsError('key', 'SKERRY_DNS_KEY: PowerDNS rejected the API key. Check the setting');
    }
    if (answer.status >= 500) throw unreachable(`it responded with HTTP ${answer.status}`);
    return answer;
  }
}

function unreachable(why: string): DnsError {
  return new DnsError('unreachable', `PowerDNS at SKERRY_DNS_URL is unavailable: ${why}`);
}

/** Returns our own words for a network error, because its message contains addresses. */
function describeFailure(error: unknown): string {
  if (error instanceof BodyTooLargeError) return 'its response is too large';
  const { name, cause } = error as Error;
  if (name === 'TimeoutError') return 'timeout';
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host name could not be resolved';
  if (!(cause instanceof Error)) return 'connection failed';
  if (cause.message === 'bad port') return 'its port is reserved for another protocol; use a port above 1024';
  const fault = toSendFault(cause);
  return fault === 'failed' ? 'connection failed' : fault;
}

/** Returns null if the text is not a list of zones. */
function parseZones(text: string): Zones['byName'] | null {
  const list = parseJson(text);
  if (!Array.isArray(list)) return null;
  const zones = new Map<string, { id: string; isOwn: boolean }>();
  for (const each of list as Record<string, unknown>[]) {
    const { id, name, kind } = each ?? {};
    // PowerDNS ids are safe in a URL; any other id could point to another path.
    if (typeof id !== 'string' || typeof name !== 'string' || !/^[\w.=-]+$/.test(id)) continue;
    if (!/\.(in-addr|ip6)\.arpa\.$/i.test(name)) continue;
    zones.set(name.toLowerCase(), { id, isOwn: WRITABLE_KINDS.has(String(kind).toLowerCase()) });
  }
  return zones;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
