import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import {
  findRegion,
  lockCatalogue,
  type PlanRow,
  type RegionRow,
  savePlan,
  saveRegion,
} from '../../../src/store/catalogue/catalogue.ts';
import { openScratchDatabase, type ScratchDatabase } from '../../support/database.ts';

const REGION: RegionRow = {
  id: 'bud',
  session_code: 'BUD',
  name: 'Budapest',
  country: 'HU',
  pop_id: 'bud1',
  tor_onion: null,
  volume_storage: 'local',
  disk_storage: 'local',
  active: true,
};
const PLAN: PlanRow = {
  id: 'small',
  category: 'vps',
  cpu: 1,
  cpu_model: 'EPYC',
  ram_mb: 1024,
  disk_gb: 20,
  transfer_tb: '1.00',
  price_cents_month: 500n,
  backup_percent: 20,
  host_tags: [],
  active: true,
  regions: ['bud'],
};

let scratch: ScratchDatabase;
before(async () => {
  scratch = await openScratchDatabase({ poolSize: 2 });
  await saveRegion(scratch.db, REGION);
  await savePlan(scratch.db, PLAN);
});
after(() => scratch.close());

/** A deploy refers to its plan and region, which takes these locks. Fails at once where it would wait. */
async function referTo(table: 'plans' | 'regions', id: string): Promise<void> {
  await scratch.db.run(`select from ${table} where id = $1 for key share nowait`, [id]);
}

it('a deploy does not wait for the plan while a catalog load is open', async () => {
  await scratch.db.transaction(async (tx) => {
    await lockCatalogue(tx);
    await savePlan(tx, { ...PLAN, price_cents_month: 600n });
    await referTo('plans', PLAN.id);
  });
  const saved = await scratch.db.row('select price_cents_month from plans where id = $1', [PLAN.id]);
  assert.deepEqual(saved, { price_cents_month: 600n });
});

it('a deploy does not wait for the region while a catalog load is open', async () => {
  await scratch.db.transaction(async (tx) => {
    await lockCatalogue(tx);
    await saveRegion(tx, { ...REGION, name: 'Vienna' });
    await referTo('regions', REGION.id);
  });
  assert.equal((await findRegion(scratch.db, REGION.id))?.name, 'Vienna');
});

it('a catalog load may change the session code of a region', async () => {
  await saveRegion(scratch.db, { ...REGION, session_code: 'BDP' });
  assert.equal((await findRegion(scratch.db, REGION.id))?.session_code, 'BDP');
});
