/**
 * Resource usage of machines. The supervision reads the counters once a minute, so usage between the last
 * reading and a power-off is lost.
 */
import pMap from 'p-map';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../kernel/time.ts';
import type { HourSample, MinuteSample } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { listRecords, readRecord } from '../record.ts';
import { readCounters, readFlows } from './counters.ts';
import {
  type HourSum,
  type MinuteSum,
  readHours,
  readLast,
  readMinutes,
  storeReading,
  type Usage,
} from './metrics-store.ts';

/** The time between two readings of all machines. */
export const METER_EVERY_MS = 55 * SECOND_MS;
/** A reading this recent is good enough for a sample. */
const FRESH_MS = 5 * SECOND_MS;
const SAMPLED_DAYS = 31;
/** A minute of which less was observed has no sample. */
const OBSERVED_MIN_MS = 30 * SECOND_MS;
/** How many machines are read concurrently. */
const CONCURRENCY = 8;

/** Returns hourly samples of each machine since `since`. The current hour is read now. */
export async function sampleMachines(
  host: QemuHost,
  ids: readonly string[],
  since: Date,
): Promise<HourSample[]> {
  const first = Math.max(since.getTime(), Date.now() - SAMPLED_DAYS * DAY_MS);
  await meter(host, ids, Date.now() - FRESH_MS);
  return await readEach(host, ids, (id) => readSamples(host, id, first - HOUR_MS));
}

/** Returns samples of the complete minutes of each machine since `since`. */
export async function sampleMinutes(
  host: QemuHost,
  ids: readonly string[],
  since: Date,
): Promise<MinuteSample[]> {
  // A reading in the current minute completes the previous one.
  await meter(host, ids, Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 1);
  return await readEach(host, ids, async (id) => {
    const record = await readRecord(host.layout, id);
    if (!record) return [];
    const { cpu, ramMb } = record.spec;
    const minutes = await readMinutes(host, id);
    const wanted = minutes.filter(({ minute }) => minute >= since.getTime());
    return wanted.flatMap((sum) => toMinuteSample(id, sum, { cpu, ramMb, now: Date.now() }));
  });
}

async function readEach<Sample>(
  host: QemuHost,
  ids: readonly string[],
  read: (id: string) => Promise<Sample[]>,
): Promise<Sample[]> {
  const readOne = async (id: string): Promise<Sample[]> => {
    try {
      return await read(id);
    } catch (error) {
      // A machine with damaged files must not hide the others.
      host.log.warn({ err: error, machine: id }, 'reading the usage of a machine failed');
      return [];
    }
  };
  const samples = await pMap(ids, readOne, { concurrency: CONCURRENCY });
  return samples.flat();
}

/** Reads the counters of every running machine. Never throws. */
export async function meterMachines(host: QemuHost): Promise<void> {
  try {
    await meter(host, await listRecords(host.layout), Date.now() - METER_EVERY_MS);
  } catch (error) {
    // The counters keep counting, so the next reading includes this one.
    host.log.warn({ err: error }, 'metering machines failed');
  }
}

/** Reads the machines whose last reading is older than `before` or from an earlier hour. */
async function meter(host: QemuHost, ids: readonly string[], before: number): Promise<void> {
  if (ids.length === 0) return;
  await host.withHostLock('metrics', async () => {
    const flows = await readFlows(host);
    const meterOne = async (id: string): Promise<void> => {
      try {
        const last = await readLast(host, id);
        const at = Date.now();
        if (last && last.at > before && hourOf(last.at) === hourOf(at) && last.at <= at) return;
        const counters = await readCounters(host, id, flows);
        if (counters) await storeReading(host, id, counters, at);
      } catch (error) {
        // The machine was deleted meanwhile.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        host.log.warn({ err: error, machine: id }, 'metering a machine failed');
      }
    };
    await pMap(ids, meterOne, { concurrency: CONCURRENCY });
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
 * CPU and memory are averages while the machine was on. Traffic is averaged over the whole hour, or the part
 * of it that has passed, so that samples add up. QEMU's own overhead can exceed the guest's limits, so values
 * are capped.
 */
export function toSample(
  id: string,
  sum: HourSum,
  { cpu, ramMb, now }: { cpu: number; ramMb: number; now: number },
): HourSample {
  const passedMs = Math.min(HOUR_MS, Math.max(now - sum.hour, sum.onMs));
  return { id, hour: new Date(sum.hour), ...averages(sum, { cpu, ramMb, passedMs }) };
}

/**
 * Averages over the part of the minute in which the machine was observed. Empty if that is too short, or the
 * minute has not ended.
 */
export function toMinuteSample(
  id: string,
  sum: MinuteSum,
  { cpu, ramMb, now }: { cpu: number; ramMb: number; now: number },
): MinuteSample[] {
  if (sum.onMs < OBSERVED_MIN_MS || sum.minute + MINUTE_MS > now) return [];
  return [{ id, minute: new Date(sum.minute), ...averages(sum, { cpu, ramMb, passedMs: sum.onMs }) }];
}

function averages(
  sum: Usage,
  { cpu, ramMb, passedMs }: { cpu: number; ramMb: number; passedMs: number },
): Omit<HourSample, 'id' | 'hour'> {
  const rate = (bytes: number) => Math.round(bytes / (passedMs / SECOND_MS));
  return {
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
