import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CannotMeasure, type Figure } from '../../bench/figure.ts';
import { runBenches } from '../../bench/run.ts';

const FIGURE = { name: 'a ratio', unit: '×', heldTo: 1.2, goal: 1.1, bound: 'max' } as const;

async function benchGood(): Promise<Figure[]> {
  return [
    { ...FIGURE, value: 1.05 },
    { ...FIGURE, value: 1.15 },
  ];
}
async function benchMissed(): Promise<Figure[]> {
  return [{ ...FIGURE, value: 1.25 }];
}
async function benchUnavailable(): Promise<Figure[]> {
  throw new CannotMeasure('its node is not installed');
}

async function runCaptured(benches: Parameters<typeof runBenches>[0], ...wanted: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const lines = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
  const isWell = await runBenches(benches, wanted, '/nowhere', lines);
  return { isWell, verdicts: out.map((line) => line.replace(/^.*\) /, '')), err };
}

test('a figure that is missed ends the bench as failed, and the others are measured all the same', async () => {
  assert.deepEqual(await runCaptured([benchGood]), { isWell: true, verdicts: ['goal met', 'held'], err: [] });
  const { isWell, verdicts } = await runCaptured([benchMissed, benchGood]);
  assert.deepEqual([isWell, verdicts], [false, ['MISSED', 'goal met', 'held']]);
});

test('what this machine cannot measure is told: among all it is passed over, by its name it fails', async () => {
  const err = ['not measured: its node is not installed'];
  assert.deepEqual(await runCaptured([benchUnavailable, benchGood]), {
    isWell: true,
    verdicts: ['goal met', 'held'],
    err,
  });
  assert.deepEqual(await runCaptured([benchUnavailable, benchGood], 'benchUnavailable'), {
    isWell: false,
    verdicts: [],
    err,
  });
});

test('a bench that there is not fails, and the names of all are told', async () => {
  const { isWell, verdicts, err } = await runCaptured([benchGood, benchMissed], 'benchGood', 'benchNone');
  assert.deepEqual([isWell, verdicts], [false, ['goal met', 'held']]);
  assert.deepEqual(err, ['there is no bench benchNone; there are benchGood, benchMissed']);
});

test('a bench that breaks is no figure, and breaks off', async () => {
  const benchBroken = async () => {
    throw new Error('broken');
  };
  await assert.rejects(runCaptured([benchBroken]), /broken/);
});
