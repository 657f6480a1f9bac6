/**
 * Runs each step of an insertion twice, and kills it between its driver call and its commit: the customer
 * must see one effect.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { LeaseLost } from '../../../../src/kernel/fail.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import { claimOperations, type OperationRow } from '../../../../src/store/servers/operations.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { crashingService, runStep, serviceWithHook } from '../operations/lost-process.ts';
import { IsoWorld, type TestImage } from './iso-world.ts';

let isos: IsoWorld;
let image: TestImage;
before(async () => {
  isos = await IsoWorld.open();
});
after(() => isos.world.close());
beforeEach(async () => {
  await isos.reset();
  image = await isos.image();
});
afterEach(() => mock.restoreAll());

async function claim(): Promise<OperationRow> {
  const { db, clock } = isos.world;
  const now = clock.now();
  const [claimed] = await claimOperations(db, { leaseId: newId(now), now, leaseS: 60, limit: 1 });
  return claimed ?? assert.fail('nothing is due');
}

async function claimChange(): Promise<OperationRow> {
  await isos.insert(image);
  return await claim();
}

/** The driver refuses the image, so that the next step empties the drive. */
async function claimEmpty(): Promise<OperationRow> {
  const refusal = mock.method(isos.world.service.compute, 'setIso', async () => {
    throw new ComputeError('refused', 'no such file');
  });
  await runStep(isos.world.service, await claimChange());
  refusal.mock.restore();
  return await claim();
}

const CASES = [
  { name: 'change_iso', lead: claimChange, isInserted: true, event: 'server.iso_inserted' },
  { name: 'empty_drive', lead: claimEmpty, isInserted: false, event: 'server.iso_ejected' },
] as const;

async function runStale(operation: OperationRow, service = isos.world.service): Promise<void> {
  await runStep(service, operation).catch((error: unknown) => {
    if (!(error instanceof LeaseLost)) throw error;
  });
}

for (const { name, lead, isInserted, event } of CASES) {
  describe(`the step "${name}"`, () => {
    it(`the step "${name}" changes nothing when it runs again after its commit`, async () => {
      const operation = await lead();
      assert.equal(operation.step, name);
      await runStep(isos.world.service, operation);
      const { db, simulator } = isos.world;
      const [recorded, machines] = [await dumpTables(db), await simulator.machines()];
      await runStale(operation);
      assert.deepEqual(await dumpTables(db), recorded);
      assert.deepEqual(await simulator.machines(), machines);
      await assertEnd();
    });

    it(`the step "${name}" takes effect once when its worker dies before the commit`, async () => {
      const operation = await lead();
      const { db, service } = isos.world;
      const before = await dumpTables(db);
      await runStep(crashingService(service, 'setIso'), operation).catch(() => undefined);
      assert.deepEqual(await dumpTables(db), before);
      await db.run(`update operations set leased_until = clock_timestamp() - interval '1 second'`);
      isos.world.clock.advanceS(1);
      await assertEnd();
    });

    it(`the step "${name}" writes nothing when it loses its lease during the driver call`, async () => {
      const operation = await lead();
      const { db, service } = isos.world;
      const lease = ['lease_id', 'leased_until'];
      const before = await dumpTables(db, lease);
      const steal = () => db.run('update operations set lease_id = $1', [newId(new Date())]);
      await runStale(operation, serviceWithHook(service, 'setIso', steal));
      assert.deepEqual(await dumpTables(db, lease), before);
      await db.run('update operations set lease_id = null, leased_until = null');
      await assertEnd();
    });
  });

  async function assertEnd(): Promise<void> {
    await isos.world.runUntilIdle();
    assert.deepEqual(await isos.stored(), [isInserted ? image.id : null, 'disk']);
    assert.deepEqual(await isos.drive(), [isInserted ? image.sha256 : null, 'disk']);
    assert.deepEqual(await isos.events(), [event]);
    await isos.world.assertInvariants();
  }
}
