import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CannotMeasure, type Figure } from '../../bench/figure.ts';
import { runBenches } from '../../bench/run.ts';

const FIGURE = { name: 'a ratio', unit: '×', limit: 1.2, goal: 1.1, bound: 'max' } as const;

async function benchGood(): Promise<Figure[]> {
  return [
    { ...FIGURE, value: 1.05 },
    { ...FIGURE, name: 'another ratio', value: 1.15 },
  ];
}
async function benchMissed(): Promise<Figure[]> {
  return [{ ...FIGURE, name: 'a bad ratio', value: 1.25 }];
}
async function benchUnavailable(): Promise<Figure[]> {
  throw new CannotMeasure('its node is not installed');
}

async function runCaptured(benches: Parameters<typeof runBenches>[0], ...wanted: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const lines = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
  const folder = await mkdtemp(join(tmpdir(), 'skerry-bench-'));
  const { passed: allMet } = await runBenches(benches, { wanted, folder }, lines).finally(() =>
    rm(folder, { recursive: true }),
  );
  return { allMet, verdicts: out.map((line) => line.replace(/^.*\) /, '')), err };
}

test('a missed figure fails the run, and the other benches still run', async () => {
  assert.deepEqual(await runCaptured([benchGood]), {
    allMet: true,
    verdicts: ['goal met', 'within limit'],
    err: [],
  });
  const { allMet, verdicts } = await runCaptured([benchMissed, benchGood]);
  assert.deepEqual([allMet, verdicts], [false, ['MISSED', 'goal met', 'within limit']]);
});

test('a bench that cannot run here is skipped in a full run and fails if it is named', async () => {
  const err = ['not measured: its node is not installed'];
  assert.deepEqual(await runCaptured([benchUnavailable, benchGood]), {
    allMet: true,
    verdicts: ['goal met', 'within limit'],
    err,
  });
  assert.deepEqual(await runCaptured([benchUnavailable, benchGood], 'benchUnavailable'), {
    allMet: false,
    verdicts: [],
    err,
  });
});

test('an unknown bench fails, and the error lists the known benches', async () => {
  const { allMet, verdicts, err } = await runCaptured([benchGood, benchMissed], 'benchGood', 'benchNone');
  assert.deepEqual([allMet, verdicts], [false, ['goal met', 'within limit']]);
  assert.deepEqual(err, ['unknown bench benchNone; choose from benchGood, benchMissed']);
});

test('a bench that throws ends the run with its error', async () => {
  const benchBroken = async () => {
    throw new Error('broken');
  };
  await assert.rejects(runCaptured([benchBroken]), /broken/);
});
