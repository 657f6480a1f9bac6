import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, test } from 'node:test';
import { compareCatalogue, loadCatalogue, seedSandbox } from '../../../src/domain/catalogue/load.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import {
  findPlan,
  listOfficialImages,
  listPlans,
  listRegions,
} from '../../../src/store/catalogue/catalogue.ts';
import { countPool } from '../../../src/store/inventory/addresses.ts';
import { countMachines, listHosts } from '../../../src/store/inventory/hosts.ts';
import {
  type DomainFixture,
  insertTestCustomer,
  insertTestServer,
  openDomainFixture,
  refusalMessage,
} from '../fixture.ts';

const SEED = readFileSync(new URL('../../../catalogue/sandbox.yaml', import.meta.url), 'utf8');
const SANDBOX = { sandbox: true };

let fixture: DomainFixture;
beforeEach(async () => {
  fixture = await openDomainFixture();
});
afterEach(() => fixture.close());

const load = (text: string) =>
  loadCatalogue(fixture.service, text, { ...SANDBOX, register: fixture.register });
const compare = (text: string) => compareCatalogue(fixture.service, text, SANDBOX);
const seed = () => seedSandbox(fixture.service, fixture.register);

test('the first start seeds an empty database once', async () => {
  await seed();
  assert.equal((await listRegions(fixture.db)).length, 4);
  assert.equal((await listHosts(fixture.db)).length, 16);
  assert.ok((await countMachines(fixture.db)).every((stock) => stock.free >= 8n));
  const pool = await countPool(fixture.db, fixture.clock.now());
  assert.equal(pool.length, 8);
  assert.ok(pool.every((row) => row.free >= 250n));
  assert.equal(fixture.registered.length, 16 + 110);
  await seed();
  assert.equal(fixture.registered.length, 16 + 110);
  assert.deepEqual(await compare(SEED), []);
});

test('tags of plans and hosts, and reserves, are stored as the file has them', async () => {
  const [host] = SEED.match(/\{ name: par-1, [^}]+/) ?? [];
  assert.ok(host !== undefined && SEED.includes('  - id: s1\n'));
  const tagged = SEED.replace('  - id: s1\n', '  - id: s1\n    host_tags: [nvme, amd]\n').replace(
    host,
    `${host.trimEnd()}, tags: [nvme, amd], reserve_ram_mb: 1024, reserve_disk_gb: 10 `,
  );
  await load(tagged);
  assert.deepEqual(await compare(tagged), []);
  assert.deepEqual((await findPlan(fixture.db, 's1'))?.host_tags, ['amd', 'nvme']);
  const stored = (await listHosts(fixture.db)).find(({ name }) => name === 'par-1');
  assert.deepEqual(stored?.tags, ['amd', 'nvme']);
  assert.deepEqual([stored?.reserve_ram_mb, stored?.reserve_disk_gb], [1_024, 10]);
  assert.deepEqual(await compare(SEED), ['~ plan s1: host_tags amd nvme → none']);
});

test('two processes that start together seed the database once', async () => {
  await Promise.all([seed(), seed(), seed()]);
  assert.equal((await listHosts(fixture.db)).length, 16);
  assert.equal((await fixture.auditedActions()).filter((action) => action === 'catalogue.load').length, 1);
});

test('a catalog from which the operator removed a region is not seeded again', async () => {
  await seed();
  await load(SEED.replaceAll(', buh]', ']').replace(/.*[ :-](buh|buh-.*)[,}\n].*\n/g, ''));
  await seed();
  assert.equal((await listRegions(fixture.db)).find((region) => region.id === 'buh')?.active, false);
});

test('loading the same file again finds no difference, even on a later day', async () => {
  await load(SEED);
  fixture.clock.offsetMs = 40 * DAY_MS;
  assert.deepEqual(await compare(SEED), []);
  assert.deepEqual(await load(SEED), []);
  assert.equal((await fixture.auditedActions()).filter((action) => action === 'catalogue.load').length, 1);
});

test('a relatively deprecated image is deprecated 30 days before its first load', async () => {
  await load(SEED);
  const debian11 = (await listOfficialImages(fixture.db)).find((image) => image.version === '11');
  const since = new Date(fixture.clock.now().getTime() - 30 * DAY_MS).toISOString().slice(0, 10);
  assert.equal(debian11?.deprecated_at, since);
});

test('comparing a catalog shows old → new and changes nothing', async () => {
  await load(SEED);
  const lines = await compare(SEED.replace('"7.35"', '"7.99"'));
  assert.deepEqual(lines, ['~ plan s1: price_usd_month 7.35 → 7.99']);
  assert.equal((await findPlan(fixture.db, 's1'))?.price_cents_month, 735n);
});

test('a new catalog price applies to new orders only', async () => {
  await load(SEED);
  const customerId = await insertTestCustomer(fixture.db, 'a@example.org');
  await insertTestServer(fixture.db, { customerId, planId: 's1', regionId: 'par' });
  await load(SEED.replace('"7.35"', '"7.99"'));
  assert.equal((await findPlan(fixture.db, 's1'))?.price_cents_month, 799n);
  const server = await fixture.db.row<{ price: bigint }>('select price_cents_month as price from servers');
  assert.equal(server?.price, 735n);
});

test('entries left out of the file are retired and can return unchanged', async () => {
  await load(SEED);
  const ids = (await listOfficialImages(fixture.db)).map((image) => image.id);
  const without = SEED.replace(/ {2}- family: fedora\n( {4}.*\n)*/, '').replace(
    / {2}- id: s2\n( {4}.*\n)*/,
    '',
  );
  assert.deepEqual(await load(without), ['- plan s2: retired', '- image fedora 42: retired']);
  assert.equal(await findPlan(fixture.db, 's2'), undefined);
  assert.deepEqual(await load(without), []);
  assert.deepEqual(await load(SEED), ['~ plan s2: offered again', '~ image fedora 42: offered again']);
  assert.deepEqual(
    (await listOfficialImages(fixture.db)).map((image) => image.id),
    ids,
  );
});

test('a plan can leave one region and join another', async () => {
  await load(SEED);
  const moved = SEED.replace('regions: [par, rkv, zrh]', 'regions: [zrh, buh]');
  assert.deepEqual(await load(moved), ['~ plan r3: regions par rkv zrh → buh zrh']);
  assert.deepEqual((await findPlan(fixture.db, 'r3'))?.regions, ['buh', 'zrh']);
});

test('the hardware of a plan with servers cannot change', async () => {
  await load(SEED);
  const bigger = SEED.replace('ram_mb: 1024', 'ram_mb: 2048');
  const customerId = await insertTestCustomer(fixture.db, 'a@example.org');
  await insertTestServer(fixture.db, { customerId, planId: 's1', regionId: 'par' });
  assert.match(await refusalMessage(compare(bigger)), /plan s1 has 1 servers, so ram_mb cannot change/);
  assert.match(await refusalMessage(load(bigger)), /plan s1/);
  await fixture.db.run('delete from servers');
  assert.deepEqual(await load(bigger), ['~ plan s1: ram_mb 1024 → 2048']);
});

test('a session code belongs to its region permanently', async () => {
  await load(SEED);
  const taken = SEED.replaceAll('rkv', 'kef').replaceAll('RKV1', 'KEF1');
  assert.match(await refusalMessage(load(taken)), /region rkv already uses the session code rek/);
});

test('a difference that the operator did not confirm is not loaded', async () => {
  await load(SEED);
  const agreed = await compare(SEED.replace('"7.35"', '"7.99"'));
  const options = { ...SANDBOX, register: fixture.register, confirmedLines: agreed };
  const other = loadCatalogue(fixture.service, SEED.replace('"7.35"', '"8.99"'), options);
  assert.match(await refusalMessage(other), /changed in the meantime/);
  assert.equal((await findPlan(fixture.db, 's1'))?.price_cents_month, 735n);
});

test('new stock is added, and existing stock does not change', async () => {
  await load(SEED);
  fixture.registered.length = 0;
  const more = SEED.replace('prefix: par-r1-, count: 10', 'prefix: par-r1-, count: 12').replace(
    '  # Each entry',
    '    - { name: par-5, region: par, cpu: 8, ram_mb: 1024, disk_gb: 10 }\n  # Each entry',
  );
  assert.deepEqual(await load(more), [
    '+ host par-5 in par: cpu 8, ram_mb 1024, disk_gb 10',
    '+ machines in par: plan r1, par-r1-11 par-r1-12',
  ]);
  assert.deepEqual(
    fixture.registered.map((host) => `${host.name} ${host.ramMb}`),
    ['par-5 1024', 'par-r1-11 32768', 'par-r1-12 32768'],
  );
});

test('a load that fails halfway changes nothing', async () => {
  const overlapping = SEED.replace('block: 198.18.4.0/23', 'block: 198.18.0.0/22');
  assert.match(await refusalMessage(load(overlapping)), /198\.18\.0\.0\/22 overlaps 198\.18\.0\.0\/23/);
  assert.deepEqual(await listPlans(fixture.db), []);
});
