import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { INJECTABLE_FAULTS, SqlFaults } from '../../src/drivers/faults.ts';
import { SandboxInputError } from '../../src/drivers/sandbox-input-error.ts';
import { openScratchDatabase } from '../support/database.ts';

describe('fault injection', () => {
  let world: Awaited<ReturnType<typeof openScratchDatabase>>;
  let faults: SqlFaults;
  before(async () => {
    world = await openScratchDatabase();
    faults = new SqlFaults(world.db);
  });
  after(() => world.close());

  async function consume(driver: string, operation: string, times: number): Promise<boolean[]> {
    const taken: boolean[] = [];
    for (let call = 0; call < times; call++) taken.push(await faults.consume(driver, operation));
    return taken;
  }

  it('a call without an armed fault does not fail', async () => {
    assert.deepEqual(await consume('compute', 'ensure', 2), [false, false]);
  });

  it('exactly the requested number of calls of that operation fail', async () => {
    await faults.set({ driver: 'chain', operation: 'poll', times: 2 });
    assert.equal(await faults.consume('chain', 'health'), false);
    assert.deepEqual(await consume('chain', 'poll', 4), [true, true, false, false]);
  });

  it('concurrent callers never share a fault', async () => {
    await faults.set({ driver: 'rates', operation: 'eurPerUsd', times: 7 });
    const taken = await Promise.all(Array.from({ length: 60 }, () => faults.consume('rates', 'eurPerUsd')));
    assert.equal(taken.filter(Boolean).length, 7);
  });

  it('setting a fault replaces the previous count, and zero clears it', async () => {
    await faults.set({ driver: 'compute', operation: 'power', times: 5 });
    await faults.set({ driver: 'compute', operation: 'power', times: 1 });
    assert.deepEqual(await consume('compute', 'power', 2), [true, false]);
    await faults.set({ driver: 'compute', operation: 'power', times: 5 });
    await faults.set({ driver: 'compute', operation: 'power', times: 0 });
    assert.equal(await faults.consume('compute', 'power'), false);
  });

  it('a fault that one process arms hits another process', async () => {
    await faults.set({ driver: 'compute', operation: 'remove', times: 1 });
    assert.equal(await new SqlFaults(world.db).consume('compute', 'remove'), true);
    assert.equal(await faults.consume('compute', 'remove'), false);
  });

  it('every listed fault can be armed', async () => {
    for (const [driver, operations] of Object.entries(INJECTABLE_FAULTS)) {
      for (const operation of operations) {
        await faults.set({ driver, operation, times: 1 });
        assert.deepEqual(await consume(driver, operation, 2), [true, false]);
      }
    }
  });

  it('an unknown driver or operation is rejected with the allowed values', async () => {
    for (const driver of ['dns', '', '__proto__', 'constructor']) {
      await assert.rejects(faults.set({ driver, operation: 'ensure', times: 1 }), (error) => {
        assert.ok(error instanceof SandboxInputError);
        assert.deepEqual([error.field, error.allowed], ['driver', ['compute', 'chain', 'rates', 'mail']]);
        return true;
      });
    }
    await assert.rejects(faults.set({ driver: 'rates', operation: 'ensure', times: 1 }), (error) => {
      assert.ok(error instanceof SandboxInputError);
      assert.deepEqual([error.field, error.allowed], ['operation', ['usdPerCoin', 'eurPerUsd']]);
      return true;
    });
  });

  it('an invalid number of times is rejected', async () => {
    for (const times of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
      await assert.rejects(faults.set({ driver: 'chain', operation: 'poll', times }), RangeError);
    }
    await faults.set({ driver: 'chain', operation: 'poll', times: Number.MAX_SAFE_INTEGER });
    assert.equal(await faults.consume('chain', 'poll'), true);
    await faults.set({ driver: 'chain', operation: 'poll', times: 0 });
  });
});
