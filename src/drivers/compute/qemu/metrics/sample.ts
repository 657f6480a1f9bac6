/**
 * What machines use. Whoever looks after them has them metered once a minute; what a machine used in its last minute
 * before it went off is not seen.
 */
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../../kernel/time.ts';
import type { HourSample } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { listRecords, readRecord } from '../record.ts';
import { readCounters, readFlows } from './counters.ts';
import { type HourSum, readHours, readLast, storeReading } from './metrics-store.ts';

const METER_EVERY_MS = 55 * SECOND_MS;
/** Who asks for samples gets what was so a moment ago. */
const FRESH_MS = 5 * SECOND_MS;
const SAMPLED_DAYS = 31;
/** Machines that are asked at once. */
const CONCURRENCY = 8;

const meteredAt = new WeakMap<QemuHost, number>();

/** The hours of each machine from that of `since` on; the running one is metered now. */
export async function sampleMachines(
  host: QemuHost,
  ids: readonly string[],
  since: Date,
): Promise<HourSample[]> {
  if (ids.length === 0) return [];
  const now = Date.now();
  await meter(host, ids, now - FRESH_MS);
  const first = Math.max(since.getTime(), now - SAMPLED_DAYS * DAY_MS);
  const samples = await mapConcurrent(ids, async (id) => {
    try {
      return await readSamples(host, id, first - HOUR_MS);
    } catch (error) {
      // One whose files are damaged keeps nobody from the others.
      host.log.warn({ err: error, machine: id }, 'what the machine used cannot be read');
      return [];
    }
  });
  return samples.flat();
}

/** Reads the counters of every machine that is on, once a minute however often it is called. Never fails. */
export async function meterMachines(host: QemuHost): Promise<void> {
  const now = Date.now();
  if (now - (meteredAt.get(host) ?? 0) < METER_EVERY_MS) return;
  meteredAt.set(host, now);
  try {
    await meter(host, await listRecords(host.layout), now - METER_EVERY_MS);
  } catch (error) {
    // Counters go on counting: the next time sees more.
    host.log.warn({ err: error }, 'machines could not be metered');
  }
}

/** Of those whose last reading is older than `before`, or was in an hour that is over. */
async function meter(host: QemuHost, ids: readonly string[], before: number): Promise<void> {
  await host.withHostLock('metrics', async () => {
    const flows = await readFlows(host);
    await mapConcurrent(ids, async (id) => {
      try {
        const last = await readLast(host, id);
        const at = Date.now();
        if (last && last.at > before && hourOf(last.at) === hourOf(at) && last.at <= at) return;
        const counters = await readCounters(host, id, flows);
        if (counters) await storeReading(host, id, counters, at);
      } catch (error) {
        // It was removed meanwhile.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        host.log.warn({ err: error, machine: id }, 'machine could not be metered');
      }
    });
  });
}

async function readSamples(host: QemuHost, id: string, after: number): Promise<HourSample[]> {
  const record = await readRecord(host.layout, id);
  if (!record) return [];
  const { cpu, ramMb } = record.spec;
  const now = Date.now();
  const hours = (await readHours(host, id)).filter(({ hour }) => hour > after);
  return hours.map((sum) => toSample(id, sum, { cpu, ramMb, now }));
}

/**
 * Load while it was on; flows over the whole hour, or what has passed of it, so that they add up to what flowed. QEMU's
 * own threads may take more than the guest's processors, and its memory be more than the guest's.
 */
export function toSample(
  id: string,
  sum: HourSum,
  { cpu, ramMb, now }: { cpu: number; ramMb: number; now: number },
): HourSample {
  const passedS = Math.min(HOUR_MS, Math.max(now - sum.hour, sum.onMs)) / SECOND_MS;
  const rate = (bytes: number) => Math.round(bytes / passedS);
  return {
    id,
    hour: new Date(sum.hour),
    cpuPct: Math.round(Math.min(100, (100 * sum.cpuMs) / (sum.onMs * cpu)) * 10) / 10,
    ramMb: Math.min(ramMb, Math.round(sum.ramMbMs / sum.onMs)),
    diskReadBps: rate(sum.diskRead),
    diskWriteBps: rate(sum.diskWritten),
    netInBps: rate(sum.netIn),
    netOutBps: rate(sum.netOut),
  };
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS);
}

/** Does it for each, a few at a time; the results in order. */
async function mapConcurrent<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker));
  return results;
}
