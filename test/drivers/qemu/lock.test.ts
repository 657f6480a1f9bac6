import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LockBusyError, Locks } from '../../../src/drivers/compute/qemu/lock.ts';
import { findProgram } from '../../support/installed-programs.ts';

const WAIT_MAX_MS = 400;

describe('locks of machines', { skip: findProgram(['flock']) ? false : 'not here: flock' }, () => {
  let path: string;
  before(async () => {
    path = join(await mkdtemp(join(tmpdir(), 'skerry-lock-')), 'locks', 'machine');
  });
  after(() => rm(join(path, '../..'), { recursive: true }));

  /** Holds the lock until it is told. */
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
    ['in another', () => new Locks()],
  ] as const) {
    it(`who waits too long for one ${where} is told so, and his work is not done later`, async () => {
      const locks = new Locks(WAIT_MAX_MS);
      const release = await held(others(locks));
      let done = 0;
      const count = async () => {
        done++;
      };
      await Promise.all([1, 2].map(() => assert.rejects(locks.withLock(path, count), LockBusyError)));
      await release();
      // Its turn comes after theirs.
      await new Locks().withLock(path, count);
      await locks.withLock(path, count);
      assert.equal(done, 2);
    });
  }

  it('who holds one waits for another no longer than he is waited for himself', async () => {
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

  it('calls that come in time are carried out in their order', async () => {
    const locks = new Locks();
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((each) => locks.withLock(path, async () => void order.push(each))));
    assert.deepEqual(order, [1, 2, 3]);
  });
});
