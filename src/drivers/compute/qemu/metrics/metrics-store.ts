/**
 * Sums of hours and minutes, stored next to the machine's disks. A small file holds the current hour, the
 * latest minutes, and the last reading, and is written every minute. Finished hours move to a larger file
 * once an hour. A kill in between leaves an hour in both files; the small file then has the correct value.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../kernel/time.ts';
import { readJson, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import type { Counters } from './counters.ts';

const RETENTION_MS = 31 * DAY_MS;
const MINUTES_RETENTION_MS = 30 * MINUTE_MS;
/** Usage over a longer time tells nothing about single minutes. */
const MINUTES_SPREAD_MS = 2.5 * MINUTE_MS;

/** Usage in a period: memory in MiB × ms, traffic in bytes. */
export interface Usage {
  /** How long the machine was on. */
  readonly onMs: number;
  readonly cpuMs: number;
  readonly ramMbMs: number;
  readonly diskRead: number;
  readonly diskWritten: number;
  readonly netIn: number;
  readonly netOut: number;
}

/** Usage of an hour so far. `hour`: its start in milliseconds. */
export interface HourSum extends Usage {
  readonly hour: number;
}

/** Usage of a minute so far. `minute`: its start in milliseconds. */
export interface MinuteSum extends Usage {
  readonly minute: number;
}

/** The last reading. A counter that could not be read keeps its previous value. */
export interface Reading extends Counters {
  readonly at: number;
}

interface StoredMetrics {
  readonly last: Reading | null;
  readonly hours: readonly HourSum[];
  /** Absent in files of earlier versions. */
  readonly minutes?: readonly MinuteSum[];
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

/** Returns the latest minutes, oldest first. */
export async function readMinutes(host: QemuHost, id: string): Promise<readonly MinuteSum[]> {
  return (await readJson<StoredMetrics>(host.layout.machine(id, 'metrics.json')))?.minutes ?? [];
}

/** Adds the usage since the last reading. Must not run concurrently for one machine. */
export async function storeReading(
  host: QemuHost,
  id: string,
  counters: Counters,
  at: number,
): Promise<void> {
  const { last, hours, minutes } =
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
  const stored: StoredMetrics = {
    last: reading,
    hours: all.filter(({ hour }) => hour >= currentHour),
    minutes: addMinutes(minutes ?? [], minutesBetween(last, counters, at), at),
  };
  await writeJson(host.layout.machine(id, 'metrics.json'), stored);
}

/** Returns the usage between two readings, spread evenly over the hours between them. */
export function usageBetween(last: Reading | null, counters: Counters, at: number): HourSum[] {
  const from = periodStart(last, counters, at);
  return spreadUsage({ last, counters, from, at }, HOUR_MS).map(([hour, usage]) => ({ hour, ...usage }));
}

/** Does the same for minutes; returns none if the readings are too far apart. */
export function minutesBetween(last: Reading | null, counters: Counters, at: number): MinuteSum[] {
  const from = periodStart(last, counters, at);
  if (at - from > MINUTES_SPREAD_MS) return [];
  return spreadUsage({ last, counters, from, at }, MINUTE_MS).map(([minute, usage]) => ({
    minute,
    ...usage,
  }));
}

function periodStart(last: Reading | null, counters: Counters, at: number): number {
  const runningSince = last?.run === counters.run ? last.at : counters.runSince;
  return Math.min(at - 1, Math.max(runningSince, last?.at ?? 0, at - RETENTION_MS));
}

interface Period {
  readonly last: Reading | null;
  readonly counters: Counters;
  readonly from: number;
  readonly at: number;
}

/**
 * Counters restart at 0 with QEMU, so for a new run, or if a counter went down, the usage is the counter
 * itself.
 */
function spreadUsage({ last, counters, from, at }: Period, widthMs: number): [start: number, Usage][] {
  const sameRun = last?.run === counters.run ? last : null;
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
  const periods: [number, Usage][] = [];
  for (let start = Math.floor(from / widthMs) * widthMs; start < at; start += widthMs) {
    const onMs = Math.min(at, start + widthMs) - Math.max(from, start);
    const share = onMs / (at - from);
    const usage = {
      onMs,
      cpuMs: totals.cpuMs * share,
      ramMbMs: counters.ramMb * onMs,
      diskRead: totals.diskRead * share,
      diskWritten: totals.diskWritten * share,
      netIn: totals.netIn * share,
      netOut: totals.netOut * share,
    };
    periods.push([start, usage]);
  }
  return periods;
}

function addMinutes(known: readonly MinuteSum[], added: readonly MinuteSum[], at: number): MinuteSum[] {
  const minutes = new Map(known.map((sum) => [sum.minute, sum]));
  for (const sum of added) {
    const existing = minutes.get(sum.minute);
    minutes.set(sum.minute, existing ? { minute: sum.minute, ...addUsage(existing, sum) } : sum);
  }
  // A clock that was set back must not keep minutes of the future forever.
  return [...minutes.values()]
    .filter(({ minute }) => minute > at - MINUTES_RETENTION_MS && minute <= at)
    .sort((one, other) => one.minute - other.minute);
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
  return { hour: one.hour, ...addUsage(one, other) };
}

function addUsage(one: Usage, other: Usage): Usage {
  return {
    onMs: one.onMs + other.onMs,
    cpuMs: one.cpuMs + other.cpuMs,
    ramMbMs: one.ramMbMs + other.ramMbMs,
    diskRead: one.diskRead + other.diskRead,
    diskWritten: one.diskWritten + other.diskWritten,
    netIn: one.netIn + other.netIn,
    netOut: one.netOut + other.netOut,
  };
}
