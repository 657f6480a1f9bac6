import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Figure } from '../../bench/figure.ts';
import { plotReport } from '../../bench/plot.ts';
import { combineRounds, compareReports, formatMeasured, type Report } from '../../bench/report.ts';

const RATIO = { unit: '×', limit: 0.5, goal: 0.8, bound: 'min' } as const;
const TIME = { unit: 'ms', limit: 100, goal: 50, bound: 'max' } as const;

/** A report of rounds with these values. */
function reportOf(values: Readonly<Record<string, readonly number[]>>): Report {
  const rounds = Object.entries(values).flatMap(([name, some]) =>
    some.map((value): Figure[] => [{ ...(name.startsWith('ratio') ? RATIO : TIME), name, value }]),
  );
  return { commit: 'c'.repeat(40), node: 'v24', figures: combineRounds(rounds) };
}

test('rounds become a median and a range, and the median is judged', () => {
  const [figure] = reportOf({ ratio: [0.61, 0.4, 0.9, 0.55, 0.6] }).figures;
  assert.ok(figure);
  assert.deepEqual([figure.median, figure.low, figure.high, figure.rounds], [0.6, 0.4, 0.9, 5]);
  assert.match(formatMeasured(figure), /0\.60 × +\[0\.40, 0\.90\] \(≥ 0\.5, goal ≥ 0\.8\) within limit$/);
});

test('a comparison names what changed by more than the noise, in the direction that counts', () => {
  const before = reportOf({ 'ratio a': [0.5, 0.51], 'ratio b': [0.5, 0.6], time: [80, 82], gone: [1] });
  const now = reportOf({ 'ratio a': [0.6, 0.61], 'ratio b': [0.55, 0.65], time: [90, 92], added: [1] });
  const words = compareReports(now, before).map((line) => line.replace(/\s+/g, ' ').trim());
  assert.deepEqual(words, [
    'ratio a 0.51 → 0.61 × +19.6 % better',
    'ratio b 0.60 → 0.65 × +8.3 % same',
    'time 82.00 → 92.00 ms +12.2 % worse',
    'added new',
  ]);
});

test('a report becomes a PNG picture', () => {
  const png = plotReport(reportOf({ 'ratio <&>': [0.6], time: [500] }));
  assert.deepEqual([...png.slice(1, 4)], [...Buffer.from('PNG')]);
});
