/**
 * Runs each step of a resize twice, and kills it between its driver call and its commit: the customer and the
 * ledger must see one effect.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { LeaseLost } from '../../../../src/kernel/fail.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import {
  claimOperations,
  type OperationRow,
  type OperationStep,
} from '../../../../src/store/servers/operations.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { crashingService, runStep, serviceWithHook } from '../operations/lost-process.ts';
import { ResizeWorld } from './resize-world.ts';

let resizes: ResizeWorld;
before(async () => {
  resizes = await ResizeWorld.open();
});
after(() => resizes.world.close());
beforeEach(() => resizes.reset([5]));

async function claim(): Promise<OperationRow> {
  const { db, clock } = resizes.world;
  const now = clock.now();
  const [claimed] = await claimOperations(db, { leaseId: newId(now), now, leaseS: 60, limit: 1 });
  return claimed ?? assert.fail('nothing is due');
}

/** Resizes the server, and runs steps until one of this kind is claimed. */
async function claimStep(step: OperationStep): Promise<OperationRow> {
  await resizes.resize({ plan: 's2', resize_disk: true, restart: true });
  for (let n = 0; n < 20; n++) {
    const operation = await claim();
    if (operation.step === step) return operation;
    await runStep(resizes.world.service, operation);
    const due = await resizes.world.runner.nextDue();
    if (due && due > resizes.world.clock.now()) resizes.world.clock.moveTo(due);
  }
  assert.fail(`step ${step} was not reached`);
}

async function claimUndo(): Promise<OperationRow> {
  const refusal = mock.method(resizes.world.service.compute, 'resize', async () => {
    throw new ComputeError('refused', 'no room');
  });
  const operation = await claimStep('undo_resize');
  refusal.mock.restore();
  return operation;
}

const RESIZED = ['server.resized', 'billing.charged', 'server.rebooted'];
const CASES = [
  { name: 'resize', lead: () => claimStep('resize'), plan: 's2', events: RESIZED },
  {
    name: 'undo_resize',
    lead: claimUndo,
    plan: 's1',
    events: ['server.resized', 'billing.charged', 'server.resized', 'server.rebooted'],
  },
] as const;

async function runStale(operation: OperationRow, service = resizes.world.service): Promise<void> {
  await runStep(service, operation).catch((error: unknown) => {
    if (!(error instanceof LeaseLost)) throw error;
  });
}

for (const { name, lead, plan, events } of CASES) {
  describe(`the step "${name}"`, () => {
    it(`the step "${name}" changes nothing when it runs again after its commit`, async () => {
      const operation = await lead();
      await runStep(resizes.world.service, operation);
      const { db, simulator } = resizes.world;
      const [recorded, machines] = [await dumpTables(db), await simulator.machines()];
      await runStale(operation);
      assert.deepEqual(await dumpTables(db), recorded);
      assert.deepEqual(await simulator.machines(), machines);
      await assertEnd();
    });

    it(`the step "${name}" takes effect once when its worker dies before the commit`, async () => {
      const operation = await lead();
      const { db, service } = resizes.world;
      const before = await dumpTables(db);
      await runStep(crashingService(service, 'resize'), operation).catch(() => undefined);
      assert.deepEqual(await dumpTables(db), before);
      await db.run(`update operations set leased_until = clock_timestamp() - interval '1 second'`);
      resizes.world.clock.advanceS(1);
      await assertEnd();
    });

    it(`the step "${name}" writes nothing when it loses its lease during the driver call`, async () => {
      const operation = await lead();
      const { db, service } = resizes.world;
      const lease = ['lease_id', 'leased_until'];
      const before = await dumpTables(db, lease);
      const steal = () => db.run('update operations set lease_id = $1', [newId(new Date())]);
      await runStale(operation, serviceWithHook(service, 'resize', steal));
      assert.deepEqual(await dumpTables(db, lease), before);
      await db.run('update operations set lease_id = null, leased_until = null');
      await assertEnd();
    });
  });

  async function assertEnd(): Promise<void> {
    await resizes.world.runUntilIdle();
    assert.equal((await resizes.server()).plan_id, plan);
    assert.deepEqual(await resizes.events(), events);
    assert.equal((await resizes.machine())[0], plan === 's2' ? 2048 : 1024);
    await resizes.world.assertInvariants();
  }
}
