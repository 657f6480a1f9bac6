/** Cold and warm start of the embedded database. Takes a median, because times on a shared machine vary. */
import { join } from 'node:path';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { type Figure, median } from './figure.ts';

const ROUNDS = 5;

export async function benchStart(folder: string): Promise<Figure[]> {
  const cold: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const dataDir = join(folder, `start-${round}`);
    for (const times of [cold, warm]) {
      const startedAt = performance.now();
      const database = await startEmbedded({ dataDir });
      times.push(performance.now() - startedAt);
      await database.stop();
    }
  }
  return [
    {
      name: 'embedded database, cold start',
      value: median(cold),
      unit: 'ms',
      limit: 2_000,
      goal: 2_000,
      bound: 'max',
    },
    {
      name: 'embedded database, warm start',
      value: median(warm),
      unit: 'ms',
      limit: 300,
      goal: 300,
      bound: 'max',
    },
  ];
}
