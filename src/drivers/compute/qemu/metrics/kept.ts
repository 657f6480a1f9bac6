/**
 * Sums of each hour, on disk beside the machine's disks. The running hour is in a small file of its own, with the last
 * reading, which is written once a minute; hours that are over move to a larger one, once an hour. A kill between the two
 * leaves an hour in both: the small file is right.
 */
import { DAY_MS, HOUR_MS } from '../../../../kernel/time.ts';
import type { QemuHost } from '../host.ts';
import { readJson, writeJson } from '../json-file.ts';
import type { Counters } from './counters.ts';

const KEPT_MS = 31 * DAY_MS;

/** One hour so far. `hour` is its beginning, in milliseconds; ram in MiB × milliseconds; flows in bytes. */
export interface HourSum {
  readonly hour: number;
  /** How long it was on. */
  readonly onMs: number;
  readonly cpuMs: number;
  readonly ramMbMs: number;
  readonly diskRead: number;
  readonly diskWritten: number;
  readonly netIn: number;
  readonly netOut: number;
}

/** The last reading; a counter that could not be read is as it was before. */
export interface Reading extends Counters {
  readonly at: number;
}

interface Kept {
  readonly last: Reading | null;
  readonly hours: readonly HourSum[];
}

const NOTHING: Kept = { last: null, hours: [] };

export async function readLast(host: QemuHost, id: string): Promise<Reading | null> {
  return (await readJson<Kept>(path(host, id, 'metrics.json')))?.last ?? null;
}

/** All hours that are kept, oldest first. */
export async function readHours(host: QemuHost, id: string): Promise<HourSum[]> {
  const [past, now] = await Promise.all([
    readJson<HourSum[]>(path(host, id, 'metrics-past.json')),
    readJson<Kept>(path(host, id, 'metrics.json')),
  ]);
  return merged(past ?? [], now?.hours ?? []);
}

/** Adds what was used since the last reading. Only one at a time. */
export async function keepReading(host: QemuHost, id: string, seen: Counters, at: number): Promise<void> {
  const { last, hours } = (await readJson<Kept>(path(host, id, 'metrics.json'))) ?? NOTHING;
  const all = merged(hours, used(last, seen, at), add);
  const begun = Math.floor(at / HOUR_MS) * HOUR_MS;
  const over = all.filter(({ hour }) => hour < begun);
  if (over.length > 0) {
    const past = (await readJson<HourSum[]>(path(host, id, 'metrics-past.json'))) ?? [];
    const kept = merged(past, over).filter(({ hour }) => hour > at - KEPT_MS - HOUR_MS);
    await writeJson(path(host, id, 'metrics-past.json'), kept);
  }
  const reading: Reading = { ...known(last, seen), at };
  const kept: Kept = { last: reading, hours: all.filter(({ hour }) => hour >= begun) };
  await writeJson(path(host, id, 'metrics.json'), kept);
}

/**
 * What was used between two readings, spread evenly over the hours between them. Counters begin at 0 when QEMU does, so a
 * counter of another run, or one that is less than it was, is what was used.
 */
export function used(last: Reading | null, seen: Counters, at: number): HourSum[] {
  const before = last?.run === seen.run ? last : null;
  const from = Math.min(at - 1, Math.max(before?.at ?? seen.runSince, last?.at ?? 0, at - KEPT_MS));
  const since = (now: number, then: number | null | undefined) =>
    now < (then ?? 0) ? now : now - (then ?? 0);
  // A tap may outlive the QEMU that it was made for.
  const flow = (now: number | null, then: number | null | undefined) => (now === null ? 0 : since(now, then));
  const all = {
    cpuMs: since(seen.cpuMs, before?.cpuMs),
    diskRead: flow(seen.diskRead, before?.diskRead),
    diskWritten: flow(seen.diskWritten, before?.diskWritten),
    netIn: flow(seen.netIn, last?.netIn),
    netOut: flow(seen.netOut, last?.netOut),
  };
  const hours: HourSum[] = [];
  for (let hour = Math.floor(from / HOUR_MS) * HOUR_MS; hour < at; hour += HOUR_MS) {
    const onMs = Math.min(at, hour + HOUR_MS) - Math.max(from, hour);
    const share = onMs / (at - from);
    hours.push({
      hour,
      onMs,
      cpuMs: all.cpuMs * share,
      ramMbMs: seen.ramMb * onMs,
      diskRead: all.diskRead * share,
      diskWritten: all.diskWritten * share,
      netIn: all.netIn * share,
      netOut: all.netOut * share,
    });
  }
  return hours;
}

/** Counters of an earlier run count for this one no more, but the tap's. */
function known(last: Reading | null, seen: Counters): Counters {
  const before = last?.run === seen.run ? last : null;
  return {
    ...seen,
    diskRead: seen.diskRead ?? before?.diskRead ?? null,
    diskWritten: seen.diskWritten ?? before?.diskWritten ?? null,
    netIn: seen.netIn ?? last?.netIn ?? null,
    netOut: seen.netOut ?? last?.netOut ?? null,
  };
}

/** By hour, in order; where both have one the later counts, or what `both` makes of them. */
function merged(
  first: readonly HourSum[],
  later: readonly HourSum[],
  both: (one: HourSum, other: HourSum) => HourSum = (_, other) => other,
): HourSum[] {
  const hours = new Map(first.map((sum) => [sum.hour, sum]));
  for (const sum of later) {
    const known = hours.get(sum.hour);
    hours.set(sum.hour, known ? both(known, sum) : sum);
  }
  return [...hours.values()].sort((one, other) => one.hour - other.hour);
}

function add(one: HourSum, other: HourSum): HourSum {
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

function path(host: QemuHost, id: string, file: string): string {
  return host.layout.machine(id, file);
}
