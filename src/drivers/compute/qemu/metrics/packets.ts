/**
 * Counts the packets of all machines at once, from the counters that the kernel keeps for each interface. A
 * packet costs nothing more. IPv6 has counters of its own, which tell the family of a flood.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { SECOND_MS } from '../../../../kernel/time.ts';
import type { PacketRate, PacketSample } from '../../../../ports/network.ts';
import type { QemuHost } from '../host.ts';

/** Readings closer than this give no rate: the last ones are used. */
const INTERVAL_MIN_MS = 2 * SECOND_MS;
/** A mean over a longer time would hide a flood. Then this process reads twice. */
const INTERVAL_MAX_MS = 30 * SECOND_MS;
const SECOND_READING_MS = SECOND_MS;

const INTERFACES = '/proc/net/dev';
const IPV6_OF = '/proc/net/dev_snmp6';
const TAP = /^sk[0-9a-f]{12}$/;

/** Of one direction, from the guest's side. */
interface Counters {
  readonly packets: number;
  readonly bytes: number;
  readonly ipv6: number;
}

type Direction = 'in' | 'out';
export type TapCounters = Readonly<Record<Direction, Counters>>;

interface Reading {
  readonly at: number;
  readonly taps: ReadonlyMap<string, TapCounters>;
}

type Rates = ReadonlyMap<string, Readonly<Record<Direction, PacketRate>>>;

/** Remembers the previous reading, if this process also took the previous sample. */
export class PacketMeter {
  readonly #host: QemuHost;
  #last: Reading | undefined;
  #rates: Rates = new Map();
  #reading: Promise<Rates> | undefined;

  constructor(host: QemuHost) {
    this.#host = host;
  }

  async sample(ids: readonly string[]): Promise<PacketSample[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    const rates = await this.#reading;
    return ids.flatMap((id) => {
      const found = rates.get(this.#host.tap(id));
      return found ? [{ id, ...found }] : [];
    });
  }

  async #read(): Promise<Rates> {
    const known = this.#last;
    if (known && performance.now() - known.at < INTERVAL_MIN_MS) return this.#rates;
    const isRecent = known && performance.now() - known.at <= INTERVAL_MAX_MS;
    const last = isRecent ? known : await takeReading(this.#host);
    if (!isRecent) await wait(SECOND_READING_MS);
    this.#last = await takeReading(this.#host);
    this.#rates = ratesBetween(last, this.#last);
    return this.#rates;
  }
}

async function takeReading(host: QemuHost): Promise<Reading> {
  const taps = await readTaps(host);
  return { at: performance.now(), taps };
}

/** Skips a tap that is new, or whose counters began again. */
export function ratesBetween(last: Reading, next: Reading): Rates {
  const seconds = (next.at - last.at) / SECOND_MS;
  const rate = (before: Counters, after: Counters): PacketRate | null => {
    const packets = after.packets - before.packets;
    const bytes = after.bytes - before.bytes;
    if (packets < 0 || bytes < 0) return null;
    const ipv6 = Math.min(packets, Math.max(0, after.ipv6 - before.ipv6));
    const perS = (count: number) => Math.round(count / seconds);
    return { packetsPerS: perS(packets), bitsPerS: perS(8 * bytes), ipv6PacketsPerS: perS(ipv6) };
  };
  const rates = new Map<string, Readonly<Record<Direction, PacketRate>>>();
  for (const [tap, after] of next.taps) {
    const before = last.taps.get(tap);
    const [wayIn, wayOut] = [before && rate(before.in, after.in), before && rate(before.out, after.out)];
    if (wayIn && wayOut) rates.set(tap, { in: wayIn, out: wayOut });
  }
  return rates;
}

export async function readTaps(host: QemuHost): Promise<Map<string, TapCounters>> {
  const { [INTERFACES]: text = '' } = await readFiles(host, [INTERFACES]);
  const links = text.split('\n').flatMap(parseLink);
  const ipv6 = await readFiles(
    host,
    links.map(({ name }) => `${IPV6_OF}/${name}`),
  );
  return new Map(
    links.map(({ name, received, sent }) => {
      const count = ipv6Counter(ipv6[`${IPV6_OF}/${name}`] ?? '');
      return [
        name,
        {
          // The host forwards to the guest, or sends packets of its own.
          in: { ...sent, ipv6: count('Ip6OutForwDatagrams') + count('Ip6OutRequests') },
          out: { ...received, ipv6: count('Ip6InReceives') },
        },
      ];
    }),
  );
}

interface Link {
  readonly name: string;
  readonly received: Omit<Counters, 'ipv6'>;
  readonly sent: Omit<Counters, 'ipv6'>;
}

const SENT_DROPPED = 11;

/**
 * Eight columns for what the host received from a tap, then eight for what it sent. It counts a packet as
 * sent when the guest takes it, and as dropped when the queue of the tap is full: both arrived for the guest.
 */
function parseLink(line: string): Link[] {
  const [name = '', columns = ''] = line.split(':');
  if (!TAP.test(name.trim())) return [];
  const values = columns.trim().split(/\s+/).map(Number);
  const at = (index: number) => ({ bytes: values[index] ?? 0, packets: values[index + 1] ?? 0 });
  const sent = at(8);
  return [
    {
      name: name.trim(),
      received: at(0),
      sent: { ...sent, packets: sent.packets + (values[SENT_DROPPED] ?? 0) },
    },
  ];
}

function ipv6Counter(text: string): (name: string) => number {
  return (name) => Number(new RegExp(`^${name}\\s+(\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

/** Prints each file after its name. A tap may be gone meanwhile. */
const PRINT = 'for file; do printf "%s\\n" "=$file"; cat "$file" 2>/dev/null; done; true';

/** Files of the kernel, which shows each process those of its own network namespace. */
async function readFiles(host: QemuHost, paths: readonly string[]): Promise<Record<string, string>> {
  if (paths.length === 0) return {};
  if (host.options.netns === null) {
    const texts = paths.map(async (path) => [path, await readFile(path, 'utf8').catch(() => '')] as const);
    return Object.fromEntries(await Promise.all(texts));
  }
  const printed = await host.runInNet('sh', ['-c', PRINT, 'print', ...paths]);
  const parts = printed.split(/^=(?=\/proc\/)/m).slice(1);
  return Object.fromEntries(parts.map((part) => [part.split('\n', 1)[0] ?? '', part]));
}
