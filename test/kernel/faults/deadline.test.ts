import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Deadline, remainingMs, runApart, runWithin } from '../../../src/kernel/faults/deadline.ts';

it('background work has no deadline', async () => {
  assert.equal(remainingMs(), Number.POSITIVE_INFINITY);
  assert.equal(await runApart(1, async () => remainingMs()), Number.POSITIVE_INFINITY);
});

it('a deadline follows a request through its asynchronous calls, and does not reach others', async () => {
  const inner = runWithin(new Deadline(10_000, true), async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return remainingMs();
  });
  assert.equal(remainingMs(), Number.POSITIVE_INFINITY);
  assert.ok((await inner) <= 10_000);
});

it('a wait apart has its own limit, and its time is given back to the request', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const deadline = new Deadline(1_000, true);
  await runWithin(deadline, async () => {
    nowMs += 100;
    await runApart(50_000, async () => {
      nowMs += 300;
      assert.equal(remainingMs(), 49_700);
      assert.equal(deadline.remainingMs, Number.POSITIVE_INFINITY);
    });
    nowMs += 50;
    assert.equal(remainingMs(), 850);
  });
});
