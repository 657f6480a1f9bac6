/**
 * Hourly sums, stored next to the machine's disks. A small file holds the current hour and the last reading
 * and is written every minute. Finished hours move to a larger file once an hour. A kill in between leaves an
 * hour in both files; the small file then has the correct value.
 */
import { DAY_MS, HOUR_MS } from '../../../../kernel/time.ts';
import { readJson, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import type { Counters } from './counters.ts';

const RETENTION_MS = 31 * DAY_MS;

/** Sums of an hour so far. `hour`: its start in milliseconds; memory in MiB × ms; traffic in bytes. */
export interface HourSum {
  readonly hour: number;
  /** How long the machine was on. */
  readonly onMs: number;
  readonly cpuMs: number;
  readonly ramMbMs: number;
  readonly diskRead: number;
  readonly diskWritten: number;
  readonly netIn: number;
  readonly netOut: number;
}

/** The last reading. A counter that could not be read keeps its previous value. */
export interface Reading extends Counters {
  readonly at: number;
}

interface StoredMetrics {
  readonly last: Reading | null;
  readonly hours: readonly HourSum[];
}

const EMPTY_METRICS: StoredMetrics = { last: null, hours: [] };

export async function readLast(host: QemuHost, id: string): Promise<Reading | null> {
  return (await readJson<StoredMetrics>(host.layout.machine(id, 'metrics.json')))?.last ?? null;
}

/** Returns all stored hours, oldest first. */
export async function readHours(host: QemuHost, id: string): Promise<HourSum[]> {
  const [past, now] = await Promise.all([
    readJson<HourSum[]>(host.layout.machine(id, 'metrics-past.json')),
    readJson<StoredMetrics>(host.layout.machine(id, 'metrics.json')),
  ]);
  return mergeHours(past ?? [], now?.hours ?? []);
}

/** Adds the usage since the last reading. Must not run concurrently for one machine. */
export async function storeReading(
  host: QemuHost,
  id: string,
  counters: Counters,
  at: number,
): Promise<void> {
  const { last, hours } =
    (await readJson<StoredMetrics>(host.layout.machine(id, 'metrics.json'))) ?? EMPTY_METRICS;
  const all = mergeHours(hours, usageBetween(last, counters, at), addHours);
  const currentHour = Math.floor(at / HOUR_MS) * HOUR_MS;
  const finished = all.filter(({ hour }) => hour < currentHour);
  if (finished.length > 0) {
    const past = (await readJson<HourSum[]>(host.layout.machine(id, 'metrics-past.json'))) ?? [];
    const kept = mergeHours(past, finished).filter(({ hour }) => hour > at - RETENTION_MS - HOUR_MS);
    await writeJson(host.layout.machine(id, 'metrics-past.json'), kept);
  }
  const reading: Reading = { ...carryCounters(last, counters), at };
  const kept: StoredMetrics = { last: reading, hours: all.filter(({ hour }) => hour >= currentHour) };
  await writeJson(host.layout.machine(id, 'metrics.json'), kept);
}

/**
 * Returns the usage between two readings, spread evenly over the hours between them. Counters restart at 0
 * with QEMU, so for a new run, or if a counter went down, the usage is the counter itself.
 */
export function usageBetween(last: Reading | null, counters: Counters, at: number): HourSum[] {
  const sameRun = last?.run === counters.run ? last : null;
  const from = Math.min(at - 1, Math.max(sameRun?.at ?? counters.runSince, last?.at ?? 0, at - RETENTION_MS));
  const since = (now: number, then: number | null | undefined) =>
    now < (then ?? 0) ? now : now - (then ?? 0);
  // A tap can outlive its QEMU.
  const sinceKnown = (now: number | null, then: number | null | undefined) =>
    now === null ? 0 : since(now, then);
  const totals = {
    cpuMs: since(counters.cpuMs, sameRun?.cpuMs),
    diskRead: sinceKnown(counters.diskRead, sameRun?.diskRead),
    diskWritten: sinceKnown(counters.diskWritten, sameRun?.diskWritten),
    netIn: sinceKnown(counters.netIn, last?.netIn),
    netOut: sinceKnown(counters.netOut, last?.netOut),
  };
  const hours: HourSum[] = [];
  for (let hour = Math.floor(from / HOUR_MS) * HOUR_MS; hour < at; hour += HOUR_MS) {
    const onMs = Math.min(at, hour + HOUR_MS) - Math.max(from, hour);
    const share = onMs / (at - from);
    hours.push({
      hour,
      onMs,
      cpuMs: totals.cpuMs * share,
      ramMbMs: counters.ramMb * onMs,
      diskRead: totals.diskRead * share,
      diskWritten: totals.diskWritten * share,
      netIn: totals.netIn * share,
      netOut: totals.netOut * share,
    });
  }
  return hours;
}

/** Keeps previous values of unreadable counters. Only those of the tap carry over to a new run. */
function carryCounters(last: Reading | null, counters: Counters): Counters {
  const sameRun = last?.run === counters.run ? last : null;
  return {
    ...counters,
    diskRead: counters.diskRead ?? sameRun?.diskRead ?? null,
    diskWritten: counters.diskWritten ?? sameRun?.diskWritten ?? null,
    netIn: counters.netIn ?? last?.netIn ?? null,
    netOut: counters.netOut ?? last?.netOut ?? null,
  };
}

/** Merges by hour, sorted. If both have an hour, `combine` decides; by default the later value wins. */
function mergeHours(
  first: readonly HourSum[],
  later: readonly HourSum[],
  combine: (one: HourSum, other: HourSum) => HourSum = (_, other) => other,
): HourSum[] {
  const hours = new Map(first.map((sum) => [sum.hour, sum]));
  for (const sum of later) {
    const existing = hours.get(sum.hour);
    hours.set(sum.hour, existing ? combine(existing, sum) : sum);
  }
  return [...hours.values()].sort((one, other) => one.hour - other.hour);
}

function addHours(one: HourSum, other: HourSum): HourSum {
  return {
    hour: one.hour,
    onMs: one.onMs + other.onMs,
    cpuMs: one.cpuMs + other.cpuMs,
    ramMbMs: one.ramMbMs + other.ramMbMs,
    diskRead: one.diskRead + other.diskRead,
    diskWritten: one.diskWritten + other.diskWritten,
    netIn: one.netIn + other.netIn,
    netOut: one.netOut + other.netOut,
  };
}
