/** The steps of a lost server after a process died in one, and after another worker took its lease. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { settleLostServer } from '../../../../src/domain/servers/lost/settle.ts';
import { LeaseLost } from '../../../../src/kernel/fail.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import {
  claimOperations,
  type OperationRow,
  type OperationStep,
} from '../../../../src/store/servers/operations.ts';
import { crashingService, runStep } from '../operations/lost-process.ts';
import type { RegionWorld } from '../region-world.ts';
import { LostWorld } from './lost-world.ts';

let lost: LostWorld;
let region: RegionWorld;
before(async () => {
  lost = await LostWorld.open();
  region = lost.region;
});
after(() => lost.world.close());
beforeEach(() => region.reset([1, 1]));
afterEach(() => lost.world.assertInvariants());

async function claim(): Promise<OperationRow> {
  const now = lost.world.clock.now();
  const [operation] = await claimOperations(lost.world.db, {
    leaseId: newId(now),
    now,
    leaseS: 60,
    limit: 1,
  });
  return operation ?? assert.fail('no operation is due');
}

/** Settles the server, and runs its steps until this one is claimed. */
async function claimStep(id: string, step: OperationStep): Promise<OperationRow> {
  await settleLostServer(lost.world.service, id);
  for (let n = 0; n < 10; n++) {
    const operation = await claim();
    if (operation.step === step) return operation;
    await runStep(lost.world.service, operation);
    lost.world.clock.advanceS(1);
  }
  return assert.fail(`step ${step} was not reached`);
}

const expireLeases = () =>
  lost.world.db.run(`update operations set leased_until = clock_timestamp() - interval '1 second'`);

describe('a server that is installed on another host', () => {
  for (const [step, verb] of [
    ['replace', 'ensure'],
    ['wait_replaced', 'observe'],
  ] as const) {
    it(`runs there once, although a process died in step ${step}`, async () => {
      const { id } = await region.running();
      await lost.lose(await lost.hostOf(id), 'rebuild');
      const operation = await claimStep(id, step);
      await runStep(crashingService(lost.world.service, verb), operation).catch(() => undefined);
      await expireLeases();
      await lost.world.runUntilIdle();
      assert.equal((await region.server(id)).status, 'running');
      assert.deepEqual(await region.usedHosts(), { [await lost.hostOf(id)]: 1 });
      assert.deepEqual((await region.events()).slice(-2), ['server.lost', 'server.rebuilt']);
    });
  }

  it('is placed once by two workers, of which one lost its lease', async () => {
    const { id } = await region.running();
    await lost.lose(await lost.hostOf(id), 'rebuild');
    const late = await claimStep(id, 'place');
    await expireLeases();
    await runStep(lost.world.service, await claim());
    await assert.rejects(runStep(lost.world.service, late), LeaseLost);
    await lost.world.runUntilIdle();
    assert.equal(await lost.heldAddresses(), 2);
    assert.deepEqual(await region.usedHosts(), { [await lost.hostOf(id)]: 1 });
  });
});

describe('a server that is refunded', () => {
  it('is refunded and removed once by two workers', async () => {
    const { id } = await region.running();
    await lost.lose(await lost.hostOf(id), 'refund');
    const { service, db } = lost.world;
    await Promise.all([settleLostServer(service, id), settleLostServer(service, id)]);
    const late = await claimStep(id, 'remove');
    await expireLeases();
    await runStep(service, await claim());
    await assert.rejects(runStep(service, late), LeaseLost);
    const refunds = await db.rows(`select from transfers where type = 'refund' and resource_id = $1`, [id]);
    assert.equal(refunds.length, 1);
    await lost.world.runUntilIdle();
    assert.equal((await region.events()).filter((type) => type === 'server.destroyed').length, 1);
  });
});
