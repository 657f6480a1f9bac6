/** A run holds only if it did something, and nothing in it was above its limit. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fakeResult } from './fake-result.ts';
import { printTable, tableOf } from './report.ts';
import type { RunResult } from './run.ts';

const failedRows = (results: readonly RunResult[], failedRuns = 0): string[] =>
  tableOf(results, failedRuns)
    .filter(({ isOk }) => !isOk)
    .map(({ figure }) => figure);

const HELD = fakeResult();

it('a run without a problem holds', () => {
  assert.deepEqual(failedRows([HELD]), []);
});

it('no run at all does not hold', () => {
  assert.deepEqual(failedRows([]), ['seeds']);
});

it('a run without an acknowledged request or a compared resource does not hold', () => {
  const idle = fakeResult({
    asked: { ...HELD.asked, acknowledged: 0 },
    calmed: { ...HELD.calmed, calms: 0, comparedResources: 0 },
  });
  const idleRows = ['requests acknowledged', 'comparisons with the model', 'resources and entries compared'];
  assert.deepEqual(failedRows([idle]), idleRows);
  // The other seed does not stand in for it.
  assert.deepEqual(failedRows([HELD, idle]), idleRows);
});

it('a run that did not start fails, and so does each kind of problem', () => {
  assert.deepEqual(failedRows([HELD], 1), ['runs that did not start']);
  const problems = [{ kind: 'lost', text: 'server srv_1 is missing' } as const];
  assert.deepEqual(failedRows([fakeResult({ problems })]), ['lost']);
});

it('each fault has a row, also if it never was or did nothing', () => {
  const faults = new Map([
    ['host lost', { begun: 0, applied: 0 }],
    ['process killed', { begun: 2, applied: 2 }],
    ['data disk read-only', { begun: 3, applied: 1 }],
  ] as const);
  const rows = tableOf([fakeResult({ faults })]).filter(({ figure }) => figure.startsWith('fault: '));
  assert.deepEqual(
    rows.map(({ figure, value }) => `${figure} ${value}`),
    ['fault: data disk read-only 1 of 3', 'fault: host lost 0', 'fault: process killed 2, ready in 900 ms'],
  );
});

it('a fault that did nothing in five tries does not hold', () => {
  const tried = (begun: number) => fakeResult({ faults: new Map([['host lost', { begun, applied: 0 }]]) });
  assert.deepEqual(failedRows([tried(4)]), []);
  assert.deepEqual(failedRows([tried(4), tried(1)]), ['fault: host lost']);
});

it('a recovery may take five seconds more than the start of a process', () => {
  const recovered = (ms: number) =>
    fakeResult({
      recoveries: { measured: 1, longestMs: new Map([['database killed', ms]]), slow: [] },
      firstStartMs: 800,
    });
  assert.deepEqual(failedRows([recovered(5_800)]), []);
  assert.deepEqual(failedRows([recovered(5_801), HELD]), ['longest recovery, ms']);
});

it('the table says which limit a figure is above', () => {
  const line = printTable([{ figure: 'lost', value: '1', held: '0', isOk: false }]);
  assert.match(line, /held to 0: FAILED/);
});
