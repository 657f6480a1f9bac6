import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LockBusyError, Locks } from '../../../../src/drivers/compute/qemu/lock.ts';
import { findProgram } from '../../../support/installed-programs.ts';

const WAIT_MAX_MS = 400;

describe('machine locks', { skip: findProgram(['flock']) ? false : 'flock is not installed' }, () => {
  let path: string;
  before(async () => {
    path = join(await mkdtemp(join(tmpdir(), 'skerry-lock-')), 'locks', 'machine');
  });
  after(() => rm(join(path, '../..'), { recursive: true }));

  /** Takes the lock and returns a function that releases it. */
  async function held(locks: Locks): Promise<() => Promise<void>> {
    const [begun, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = locks.withLock(path, async () => {
      begun.resolve();
      await free.promise;
    });
    await Promise.race([begun.promise, holding]);
    return async () => {
      free.resolve();
      await holding;
    };
  }

  for (const [where, others] of [
    ['in this process', (mine: Locks) => mine],
    ['in another process', () => new Locks()],
  ] as const) {
    it(`a caller that waits too long for a lock ${where} fails, and its work never runs`, async () => {
      const locks = new Locks(WAIT_MAX_MS);
      const release = await held(others(locks));
      let done = 0;
      const count = async () => {
        done++;
      };
      await Promise.all([1, 2].map(() => assert.rejects(locks.withLock(path, count), LockBusyError)));
      await release();
      // This call queues behind theirs.
      await new Locks().withLock(path, count);
      await locks.withLock(path, count);
      assert.equal(done, 2);
    });
  }

  it('a nested lock waits no longer than the caller of the outer one', async () => {
    const [outer, waitMaxMs] = [new Locks(4 * WAIT_MAX_MS), 4 * WAIT_MAX_MS];
    const release = await held(new Locks());
    try {
      await outer.withLock(`${path}-outer`, async () => {
        const nothing = async () => undefined;
        await assert.rejects(outer.withLock(path, nothing), LockBusyError);
        const begun = performance.now();
        await assert.rejects(outer.withLock(path, nothing), LockBusyError);
        assert.ok(performance.now() - begun < waitMaxMs / 2);
      });
    } finally {
      await release();
    }
  });

  it('calls that get the lock in time run in their order', async () => {
    const locks = new Locks();
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((each) => locks.withLock(path, async () => void order.push(each))));
    assert.deepEqual(order, [1, 2, 3]);
  });
});
