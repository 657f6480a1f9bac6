import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FaultLog } from '../../../src/kernel/faults/fault-log.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../src/kernel/time.ts';

it('a fault of an hour is logged at growing intervals, and every occurrence is counted', () => {
  let nowMs = 0;
  const log = new FaultLog(() => nowMs);
  const lines: number[] = [];
  let counted = 0;
  for (; nowMs <= HOUR_MS; nowMs += 100) {
    log.report('database', (count) => {
      lines.push(nowMs);
      counted += count;
    });
  }
  const gaps = lines.slice(1).map((at, index) => at - (lines[index] ?? 0));
  assert.deepEqual(
    gaps.slice(0, 5),
    [1, 5, 30, 60, 300].map((seconds) => seconds * SECOND_MS),
  );
  assert.ok(gaps.every((gap, index) => index === 0 || gap >= (gaps[index - 1] ?? 0)));
  assert.ok(lines.length < 20, `${lines.length} lines`);
  assert.equal(counted, 1 + (lines.at(-1) ?? 0) / 100);
});

it('another fault, and one after a silence, is logged at once', () => {
  let nowMs = 0;
  const log = new FaultLog(() => nowMs);
  const counts: number[] = [];
  const report = (fault: string) => log.report(fault, (count) => counts.push(count));
  report('one');
  report('one');
  report('two');
  assert.deepEqual(counts, [1, 1]);
  nowMs += 11 * MINUTE_MS;
  report('one');
  assert.deepEqual(counts, [1, 1, 1]);
});
