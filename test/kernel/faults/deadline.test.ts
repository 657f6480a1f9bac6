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

it('a wait apart has its own limit, and its time is given back to the request', async () => {
  const deadline = new Deadline(1_000, true);
  await runWithin(deadline, async () => {
    const before = remainingMs();
    const startedAt = performance.now();
    await runApart(50_000, async () => {
      assert.ok(remainingMs() > 40_000);
      assert.equal(deadline.remainingMs, Number.POSITIVE_INFINITY);
      while (performance.now() - startedAt < 20) await new Promise((resolve) => setImmediate(resolve));
    });
    assert.ok(remainingMs() <= before);
    assert.ok(remainingMs() > before - 15, `${before} ${remainingMs()}`);
  });
});
