import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { getPlan, getRegion, listPlans, listRegions } from '../../../src/domain/catalogue/offers.ts';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { getImage, listImages } from '../../../src/domain/images/read.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import type { PageRequest } from '../../../src/spec/lists.ts';
import { R1, S1, type TestPlan } from '../../support/fixtures.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const FIRST: PageRequest = { filter: {}, sort: 'id', descending: false, after: null, size: 100 };
const MISSING = { name: 'Failure', code: 'not_found' };
/** Needs more memory than any host has. */
const S9: TestPlan = { ...S1, id: 's9', ram_mb: 1_000_000, price_cents_month: 735n };

let world: TestService;
let actor: CustomerActor;

before(async () => {
  world = await startTestService();
  await world.fixtures.addPlans(['par', 'rkv', 'zrh'], [S1, R1, S9]);
  await world.fixtures.addHosts([2]);
  await world.fixtures.addHosts([2], 'rkv');
  await world.fixtures.addMachines(1, R1, 'rkv');
  await world.fixtures.addAddresses(3);
  await world.fixtures.addAddresses(5, 1, 'rkv');
  await world.fixtures.addMachines(1, R1, 'zrh');
  actor = await world.fixtures.addCustomer(100_000n);
});
after(() => world.close());

const plan = (id: string) => getPlan(world.service, id);
const region = (id: string) => getRegion(world.service, id);
const buy = (regionId: string) => deploy(world.service, actor, world.fixtures.buildOrder({ regionId }));
async function left(id: string) {
  const { available, ipv4_pool_remaining: remaining } = await region(id);
  return { available, remaining };
}

describe('a plan', () => {
  it('a plan shows its hardware and its exact prices per hour and cycle', async () => {
    const { available_in, ...rest } = await plan('s9');
    assert.deepEqual(rest, {
      id: 's9',
      object: 'plan',
      category: 'vps',
      cpu: 1,
      cpu_model: 'test',
      ram_mb: 1_000_000,
      disk_gb: 10,
      transfer_tb: 1,
      price_usd_month: 7.35,
      price_usd_hour: 0.01,
      price_usd_hour_exact: '0.01006849',
      backup_percent: 0,
      cycles: [
        { billing_months: 1, discount_percent: 0, price_usd: 7.35 },
        { billing_months: 3, discount_percent: 25, price_usd: 16.54 },
        { billing_months: 6, discount_percent: 35, price_usd: 28.67 },
        { billing_months: 12, discount_percent: 50, price_usd: 44.1 },
      ],
    });
    assert.deepEqual(available_in, []);
  });

  it('a plan is available while its region has room, an address, and a /64', async () => {
    assert.deepEqual((await plan('s1')).available_in, ['par', 'rkv']);
    assert.deepEqual((await plan('r1')).available_in, ['rkv']);
    await buy('rkv');
    assert.deepEqual((await plan('s1')).available_in, ['par']);
    assert.deepEqual((await plan('r1')).available_in, []);
    await buy('par');
    await buy('par');
    assert.deepEqual((await plan('s1')).available_in, []);
  });

  it('plans are listed by id and filtered by category', async () => {
    const ids = async (request: Partial<PageRequest> = {}) =>
      (await listPlans(world.service, { ...FIRST, ...request })).items.map(({ id }) => id);
    assert.deepEqual(await ids(), ['r1', 's1', 's9']);
    assert.deepEqual(await ids({ descending: true }), ['s9', 's1', 'r1']);
    assert.deepEqual(await ids({ filter: { category: 'vps' } }), ['s1', 's9']);
    const { next } = await listPlans(world.service, { ...FIRST, size: 1 });
    assert.deepEqual(await ids({ after: next }), ['s1', 's9']);
  });

  it('retired and unknown plans are not found', async () => {
    await world.db.run(`update plans set active = false where id = 's9'`);
    for (const id of ['s9', 's8', '', '%', 's1\0', 'S1']) await assert.rejects(plan(id), MISSING, id);
  });
});

describe('a region', () => {
  it('a region shows its free addresses and whether any plan is available', async () => {
    assert.deepEqual(await left('par'), { available: false, remaining: 1 });
    assert.deepEqual(await left('rkv'), { available: false, remaining: 4 });
    assert.deepEqual(await left('zrh'), { available: false, remaining: 0 });
    await world.fixtures.addHosts([1]);
    await world.fixtures.addAddresses(2, 2, 'zrh');
    assert.deepEqual(await left('par'), { available: true, remaining: 1 });
    assert.deepEqual(await left('zrh'), { available: true, remaining: 2 });
    await world.db.run(`update ipv4_addresses set free_from = $1 where region_id = 'zrh'`, [
      new Date(world.clock.now().getTime() + 1_000),
    ]);
    assert.deepEqual(await left('zrh'), { available: false, remaining: 0 });
    world.clock.advanceS(2);
    assert.deepEqual(await left('zrh'), { available: true, remaining: 2 });
    await world.db.run(`update ipv4_addresses set blocked = true where region_id = 'zrh'`);
    assert.deepEqual(await left('zrh'), { available: false, remaining: 0 });
  });

  it('a region is found by its code, and regions are listed by code or name', async () => {
    await world.db.run(`update regions set name = 'Aa', tor_onion = 'x.onion' where id = 'zrh'`);
    const { ipv4_pool_remaining: _, available: __, ...rest } = await region('zrh');
    assert.deepEqual(rest, {
      ...{ id: 'zrh', object: 'region', name: 'Aa', country: 'FR', pop_id: 'zrh', tor_onion: 'x.onion' },
    });
    const ids = async (sort: string, filter = {}) =>
      (await listRegions(world.service, { ...FIRST, sort, filter })).items.map(({ id }) => id);
    assert.deepEqual(await ids('id'), ['par', 'rkv', 'zrh']);
    assert.deepEqual(await ids('name'), ['zrh', 'par', 'rkv']);
    assert.deepEqual(await ids('id', { country: 'IS' }), []);
    await world.db.run(`update regions set active = false where id = 'zrh'`);
    for (const id of ['zrh', 'rek', '']) await assert.rejects(region(id), MISSING, id);
    assert.deepEqual(await ids('id'), ['par', 'rkv']);
  });
});

describe('an image', () => {
  async function add(row: Readonly<Record<string, unknown>>): Promise<string> {
    world.clock.advanceS(1);
    const all = {
      ...{ id: newId(world.clock.now()), type: 'official', family: 'debian', version: 'x', arch: ['amd64'] },
      ...{ size_gb: '1.5', cloud_init: true, released_at: '2025-08-09', ...row },
    };
    const places = Object.keys(all).map((_, n) => `$${n + 1}`);
    const text = `insert into images (${Object.keys(all).join()}) values (${places.join()})`;
    await world.db.run(text, Object.values(all));
    return formatId(all.type === 'custom' ? 'customImage' : 'image', all.id);
  }
  const list = async (filter: Record<string, string> = {}, by = actor) =>
    (await listImages(world.service, by, { ...FIRST, filter })).items;

  it('images are the official ones on offer and the customer’s own', async () => {
    const other = await world.fixtures.addCustomer();
    const [before] = await list();
    const bsd = await add({ family: 'freebsd', arch: ['arm64'], cloud_init: false, variant: 'minimal' });
    const own = await add({ type: 'custom', family: 'custom', customer_id: actor.customerId, name: 'mine' });
    const theirs = await add({ type: 'custom', family: 'custom', customer_id: other.customerId });
    const deleted = { type: 'custom', family: 'custom', customer_id: actor.customerId };
    const hidden = [
      theirs,
      await add({ ...deleted, deleted_at: world.clock.now() }),
      await add({ version: 'retired', active: false }),
      own.replace('custom_', 'img_'),
      'img_x',
    ];
    assert.deepEqual(await getImage(world.service, actor, bsd), {
      ...{ id: bsd, object: 'image', type: 'official', name: null, family: 'freebsd', version: 'x' },
      ...{ variant: 'minimal', arch: ['arm64'], size_gb: 1.5, cloud_init: false },
      ...{ released_at: '2025-08-09', deprecated_at: null, action: null },
    });
    assert.equal((await getImage(world.service, actor, own)).name, 'mine');
    for (const id of hidden) await assert.rejects(getImage(world.service, actor, id), MISSING, id);
    const ids = async (filter = {}, by = actor) => (await list(filter, by)).map(({ id }) => id);
    assert.deepEqual(await ids(), [before?.id, bsd, own]);
    assert.deepEqual(await ids({}, other), [before?.id, bsd, theirs]);
    assert.deepEqual(await ids({ type: 'custom' }), [own]);
    assert.deepEqual(await ids({ family: 'freebsd', arch: 'arm64' }), [bsd]);
    const { next } = await listImages(world.service, actor, { ...FIRST, size: 2 });
    const rest = await listImages(world.service, actor, { ...FIRST, after: next });
    assert.deepEqual(
      rest.items.map(({ id }) => id),
      [own],
    );
  });

  it('a deprecated image is shown for 90 days', async () => {
    world.clock.moveTo(new Date('2030-06-01T23:59:58Z'));
    const id = await add({ version: 'old', deprecated_at: '2030-03-04' });
    assert.equal((await getImage(world.service, actor, id)).deprecated_at, '2030-03-04');
    assert.equal((await list({ family: 'debian' })).length, 2);
    world.clock.advanceS(1);
    await assert.rejects(getImage(world.service, actor, id), MISSING);
    assert.equal((await list({ family: 'debian' })).length, 1);
  });
});
