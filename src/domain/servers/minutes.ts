/**
 * Reads the metrics of servers from the driver by the minute. A server's read starts where its stored minutes
 * end, so a late or repeated round closes gaps, and changes nothing that is known.
 */
import { HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import type { MinuteSample } from '../../ports/compute.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { FineStep } from '../../spec/metrics.ts';
import {
  forgetSilenceOfStopped,
  listMeteredServers,
  type MeteredServer,
  markSilent,
  type NewPoints,
  POINT_WIDTH,
  POINTS_PER_ROW,
  savePoints,
} from '../../store/servers/points.ts';
import type { Service } from '../context.ts';
import { withDriverTimeout } from './operations/driver-call.ts';

/** Servers that are read with one call. */
const BATCH_SIZE = 500;
const FIVE_MINUTES_MS = 5 * MINUTE_MS;
/** Servers whose minutes end before this are read apart, so that they do not make the others' answer long. */
const BEHIND_MS = 2 * FIVE_MINUTES_MS;
/** A server that runs has a younger sample. */
const SILENT_AFTER_MS = 2 * MINUTE_MS;

/** Reads all servers that should run. Yields how many each batch had. */
export async function* sampleMinutes(service: Service): AsyncGenerator<number> {
  await forgetSilenceOfStopped(service.db);
  for (let after: string | null = null; ; ) {
    const servers: readonly MeteredServer[] = await listMeteredServers(service.db, {
      after,
      limit: BATCH_SIZE,
    });
    if (servers.length > 0) await sampleBatch(service, servers);
    yield servers.length;
    if (servers.length < BATCH_SIZE) return;
    after = servers.at(-1)?.server_id ?? null;
  }
}

async function sampleBatch(service: Service, servers: readonly MeteredServer[]): Promise<void> {
  const now = service.clock.now();
  const earliest = now.getTime() - LIMITS.minuteMetricsHours * HOUR_MS;
  const startOf = ({ until }: MeteredServer) =>
    Math.max(floorTo(until?.getTime() ?? earliest, FIVE_MINUTES_MS), earliest);
  const groups = [
    servers.filter((server) => startOf(server) >= now.getTime() - BEHIND_MS),
    servers.filter((server) => startOf(server) < now.getTime() - BEHIND_MS),
  ];
  for (const group of groups) {
    if (group.length === 0) continue;
    const since = new Date(Math.min(...group.map(startOf)));
    const samples = await readMinutes(service, group, since);
    if (samples === null) continue;
    if (samples.length > 0) await savePoints(service.db, toPoints(samples, now));
    await noteSilence(service, group, samples, now);
  }
}

/** Null: the driver failed, and nothing is known. */
async function readMinutes(
  service: Service,
  servers: readonly MeteredServer[],
  since: Date,
): Promise<MinuteSample[] | null> {
  const ids = servers.map(({ server_id: id }) => id);
  try {
    return await withDriverTimeout(service.compute.sampleMinutes(ids, since));
  } catch (error) {
    service.log.warn({ err: error, servers: ids.length }, 'metrics by the minute could not be read');
    return null;
  }
}

/** A server without a recent sample is silent, unless the driver sees that it runs. */
async function noteSilence(
  service: Service,
  servers: readonly MeteredServer[],
  samples: readonly MinuteSample[],
  now: Date,
): Promise<void> {
  const recent = now.getTime() - SILENT_AFTER_MS;
  const heard = new Set(
    samples.filter(({ minute }) => minute.getTime() >= recent - MINUTE_MS).map(({ id }) => id),
  );
  const isQuiet = ({ server_id: id, until }: MeteredServer) =>
    !heard.has(id) && (until === null || until.getTime() < recent);
  const quiet = servers.filter(isQuiet).map(({ server_id: id }) => id);
  const silent = await findSilent(service, quiet);
  if (silent === null) return;
  const marked = servers.filter(({ silent_since: since }) => since !== null).map(({ server_id: id }) => id);
  const seen = marked.filter((id) => !silent.includes(id));
  if (silent.length > 0 || seen.length > 0) await markSilent(service.db, { silent, seen, now });
}

/** Null: the driver failed, and nothing is known. */
async function findSilent(service: Service, ids: readonly string[]): Promise<readonly string[] | null> {
  if (ids.length === 0) return [];
  try {
    const states = await withDriverTimeout(service.compute.observe(ids));
    const running = states.filter(({ state }) => state === 'running' || state === 'installing');
    const seen = new Set(running.map(({ id }) => id));
    return ids.filter((id) => !seen.has(id));
  } catch (error) {
    service.log.warn({ err: error, servers: ids.length }, 'quiet servers could not be observed');
    return null;
  }
}

/** Returns the rows of the samples: their minutes, and the five-minute steps that have ended. */
export function toPoints(samples: readonly MinuteSample[], now: Date): NewPoints[] {
  const minutes = new RowBuilder(60);
  const sums = new Map<string, { id: string; start: number; count: number; values: number[] }>();
  for (const sample of samples) {
    const at = sample.minute.getTime();
    const values = pointOf(sample);
    minutes.add(sample.id, at, values);
    const start = floorTo(at, FIVE_MINUTES_MS);
    const key = `${sample.id} ${start}`;
    const sum = sums.get(key) ?? { id: sample.id, start, count: 0, values: values.map(() => 0) };
    sum.count++;
    sum.values = sum.values.map((value, index) => value + (values[index] ?? 0));
    sums.set(key, sum);
  }
  const fiveMinutes = new RowBuilder(300);
  for (const { id, start, count, values } of sums.values()) {
    if (start + FIVE_MINUTES_MS > now.getTime()) continue;
    fiveMinutes.add(
      id,
      start,
      values.map((value) => value / count),
    );
  }
  return [...minutes.rows(), ...fiveMinutes.rows()];
}

/** In the order of POINT_SERIES. */
function pointOf(sample: MinuteSample): number[] {
  const { cpuPct, ramMb, diskReadBps, diskWriteBps, netInBps, netOutBps } = sample;
  return [cpuPct, ramMb, diskReadBps, diskWriteBps, netInBps, netOutBps];
}

/** Puts points into the arrays of their rows. */
class RowBuilder {
  readonly #step: FineStep;
  readonly #rows = new Map<string, { id: string; start: number; points: (number | null)[] }>();

  constructor(step: FineStep) {
    this.#step = step;
  }

  add(id: string, at: number, values: readonly number[]): void {
    const stepMs = this.#step * 1_000;
    const start = floorTo(at, stepMs * POINTS_PER_ROW);
    const key = `${id} ${start}`;
    const row = this.#rows.get(key) ?? { id, start, points: [] };
    const offset = ((at - start) / stepMs) * POINT_WIDTH;
    while (row.points.length < offset) row.points.push(null);
    for (const [index, value] of values.entries()) row.points[offset + index] = value;
    this.#rows.set(key, row);
  }

  rows(): NewPoints[] {
    return [...this.#rows.values()].map(({ id, start, points }) => {
      return { server_id: id, step_s: this.#step, starts_at: new Date(start), points };
    });
  }
}

function floorTo(at: number, widthMs: number): number {
  return Math.floor(at / widthMs) * widthMs;
}
