/** The service as a process: the time from the command to its ready line, and from SIGTERM to its exit. */
import { join } from 'node:path';
import { startSkerryd } from '../test/support/skerryd-process.ts';
import { type Figure, median } from './figure.ts';

const ROUNDS = 3;

export async function benchServe(folder: string): Promise<Figure[]> {
  const times = { first: [] as number[], later: [] as number[], stop: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const env = { SKERRY_DATA_DIR: join(folder, `serve-${round}`), SKERRY_LOG_LEVEL: 'warn' };
    for (const kind of ['first', 'later'] as const) {
      const startedAt = performance.now();
      const serving = await startSkerryd(env);
      times[kind].push(performance.now() - startedAt);
      const stopRequestedAt = performance.now();
      const { code } = await serving.stop('SIGTERM');
      if (code !== 0) throw new Error(`the service exited with code ${code}`);
      times.stop.push(performance.now() - stopRequestedAt);
    }
  }
  return [
    {
      name: 'skerryd serve, first start',
      value: median(times.first),
      unit: 'ms',
      limit: 5_000,
      goal: 5_000,
      bound: 'max',
    },
    {
      name: 'skerryd serve, later start',
      value: median(times.later),
      unit: 'ms',
      limit: 2_000,
      goal: 2_000,
      bound: 'max',
    },
    {
      name: 'skerryd serve, SIGTERM to exit 0',
      value: median(times.stop),
      unit: 'ms',
      limit: 10_000,
      goal: 10_000,
      bound: 'max',
    },
  ];
}
