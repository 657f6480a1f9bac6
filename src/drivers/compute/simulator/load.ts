/** Simulated load: deterministic for a machine and time, and higher during the day. */
import { createHash } from 'node:crypto';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../kernel/time.ts';
import type { HourSample, MinuteSample } from '../../../ports/compute.ts';
import { HISTORY_DAYS } from './power.ts';

/** The hour (UTC) of the highest load of most machines. */
const PEAK_HOUR = 15;
/** Per core. At this rate, a machine sends less in a month than a plan with 1 TiB per core includes. */
const NET_MAX_BPS = 600_000;
/** How far back minutes are known. */
const MINUTES_MS = 6 * HOUR_MS;

/** Returns the hours since `since`, at most 31 days, in which a machine on a reachable host was on. */
export async function sampleHours(
  sql: Sql,
  ids: readonly string[],
  since: Date,
  now: Date,
): Promise<HourSample[]> {
  const first = Math.max(since.getTime(), now.getTime() - HISTORY_DAYS * DAY_MS);
  const rows = await sql.rows<{ id: string; cpu: number; ram_mb: number; hour: Date }>(
    `select m.id, m.cpu, m.ram_mb, hour
     from sim.machines m join sim.hosts h on h.name = m.host and not h.down
     cross join lateral generate_series($2::timestamptz, $3::timestamptz, interval '1 hour') as hour
     where m.id = any($1::text[])
       and m.was_on + tstzmultirange(case when m.off_at <= $3 then tstzrange(m.on_since, m.off_at)
                                     else tstzrange(m.on_since, $3, '[]') end)
           && tstzrange(hour, hour + interval '1 hour')
     order by m.id, hour`,
    [ids, new Date(first - (first % HOUR_MS)), now],
  );
  return rows.map((row) => simulateLoad({ id: row.id, cpu: row.cpu, ramMb: row.ram_mb }, row.hour));
}

/** Returns the complete minutes since `since` in which a machine on a reachable host was on throughout. */
export async function sampleMinutes(
  sql: Sql,
  ids: readonly string[],
  since: Date,
  now: Date,
): Promise<MinuteSample[]> {
  const first = Math.max(since.getTime(), now.getTime() - MINUTES_MS);
  const rows = await sql.rows<{ id: string; cpu: number; ram_mb: number; minute: Date }>(
    `select m.id, m.cpu, m.ram_mb, minute
     from sim.machines m join sim.hosts h on h.name = m.host and not h.down
     cross join lateral generate_series($2::timestamptz, $3::timestamptz, interval '1 minute') as minute
     where m.id = any($1::text[])
       and m.was_on + tstzmultirange(case when m.off_at <= $4 then tstzrange(m.on_since, m.off_at)
                                     else tstzrange(m.on_since, $4, '[]') end)
           @> tstzrange(minute, minute + interval '1 minute')
     order by m.id, minute`,
    [ids, new Date(Math.ceil(first / MINUTE_MS) * MINUTE_MS), new Date(now.getTime() - MINUTE_MS), now],
  );
  return rows.map((row) => simulateMinute({ id: row.id, cpu: row.cpu, ramMb: row.ram_mb }, row.minute));
}

/** The hour's load, a little more or less. */
function simulateMinute(machine: { id: string; cpu: number; ramMb: number }, minute: Date): MinuteSample {
  const { hour, ...load } = simulateLoad(machine, new Date(minute.getTime() - (minute.getTime() % HOUR_MS)));
  const noise = seededRandom(`${machine.id} minute ${minute.getTime()}`);
  const vary = (value: number) => Math.round(value * (0.8 + 0.4 * noise()));
  return {
    id: machine.id,
    minute,
    cpuPct: Math.min(100, vary(load.cpuPct * 10) / 10),
    ramMb: Math.min(machine.ramMb, vary(load.ramMb)),
    diskReadBps: vary(load.diskReadBps),
    diskWriteBps: vary(load.diskWriteBps),
    netInBps: vary(load.netInBps),
    netOutBps: vary(load.netOutBps),
  };
}

export function simulateLoad(machine: { id: string; cpu: number; ramMb: number }, hour: Date): HourSample {
  const machineRandom = seededRandom(machine.id);
  const noise = seededRandom(`${machine.id} ${hour.getTime()}`);
  const day = daytimeFactor(hour, machineRandom() * 4 - 2);
  const cpuPct = 2 + 18 * machineRandom() + (10 + 35 * machineRandom()) * day + 6 * noise();
  const ramShare = 0.2 + 0.45 * machineRandom() + 0.1 * day + 0.05 * noise();
  /** Bytes per second of one kind: low at night, different every hour. */
  const bytesPerSecond = (maxPerCore: number) =>
    Math.round(machine.cpu * maxPerCore * machineRandom() ** 2 * (0.1 + day) * (0.7 + 0.6 * noise()));
  return {
    id: machine.id,
    hour,
    cpuPct: Math.round(Math.min(100, cpuPct) * 10) / 10,
    ramMb: Math.floor(machine.ramMb * Math.min(1, ramShare)),
    diskReadBps: bytesPerSecond(4_000_000),
    diskWriteBps: bytesPerSecond(2_000_000),
    netInBps: bytesPerSecond(NET_MAX_BPS / 3),
    netOutBps: bytesPerSecond(NET_MAX_BPS),
  };
}

/** From 0 at night to 1 at the peak. */
function daytimeFactor(hour: Date, shiftHours: number): number {
  const sincePeakMs = hour.getTime() - (PEAK_HOUR + shiftHours) * HOUR_MS;
  return (1 + Math.cos((2 * Math.PI * sincePeakMs) / DAY_MS)) / 2;
}

/** Returns a deterministic sequence of numbers in [0, 1), at most eight per seed. */
function seededRandom(seed: string): () => number {
  const digest = createHash('sha256').update(seed).digest();
  let next = 0;
  return () => digest.readUInt32BE(4 * next++) / 2 ** 32;
}
