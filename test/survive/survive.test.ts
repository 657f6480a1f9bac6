/** A minute of `npm run survive` with another seed in each run. Full runs only. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { byLevel, FULL_ONLY, ROTATION } from '../support/runs.ts';
import { generate } from './history.ts';
import { printTable, tableOf } from './report.ts';
import { runHistory } from './run.ts';

const FOR_MS = byLevel({ sample: 0, full: 60_000, soak: 20 * 60_000 });

it('customers lose nothing, and nothing happens twice, while everything breaks', {
  ...FULL_ONLY,
  timeout: FOR_MS + 8 * 60_000,
}, async (t) => {
  const seed = Number(process.env.SKERRY_TEST_SEED ?? ROTATION);
  const faults = { disks: process.getuid?.() === 0, cluster: false };
  const result = await runHistory(generate(seed, faults), { seed, faults, forMs: FOR_MS });
  const rows = tableOf([result]);
  t.diagnostic(`seed ${seed}, ${result.steps.length} steps`);
  const context = `npm run survive -- --seed ${seed}\n${JSON.stringify(result.problems, null, 2)}`;
  assert.ok(
    rows.every(({ isOk }) => isOk),
    `${context}\n${printTable(rows)}`,
  );
});
