/** Snapshots: every rule and refusal, the driver's results, and their task run twice and killed. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { destroyServer } from '../../../src/domain/servers/operations/destroy.ts';
import { createSnapshot, deleteSnapshot } from '../../../src/domain/snapshots/change.ts';
import { ensureSnapshot } from '../../../src/domain/snapshots/ensure.ts';
import { getSnapshot, listSnapshots } from '../../../src/domain/snapshots/read.ts';
import { InvalidRequest } from '../../../src/kernel/fail.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import { DAY_MS, formatRfc3339, HOUR_MS } from '../../../src/kernel/time.ts';
import { ComputeError } from '../../../src/ports/compute.ts';
import type { PageRequest } from '../../../src/spec/lists.ts';
import { crashingService, refusal, type VolumeWorld, volumeWorld } from '../volumes/volume-world.ts';

let world: VolumeWorld;
let actor: CustomerActor;
let region: string;
let server: string;

before(async () => {
  world = await volumeWorld();
  actor = await world.fixtures.addCustomer(100_000n);
  region = await world.region();
  server = await world.server(actor, region);
});
after(() => world.close());
afterEach(async () => {
  mock.restoreAll();
  await world.db.run(`delete from operations where kind = 'restore'`);
});

const create = (body = {}, service = world.service) => createSnapshot(service, actor, server, body);
const get = (id: string) => getSnapshot(world.service, actor, id);
const remove = (id: string) => deleteSnapshot(world.service, actor, id);
const ensure = (id: string, service: Service = world.service) =>
  ensureSnapshot(service, parseId('snapshot', id) ?? '');
const atDriver = (id: string) =>
  world.db
    .rows('select from sim.snapshots where id = $1', [parseId('snapshot', id)])
    .then((rows) => rows.length);
const serverIs = (change: string) =>
  world.db.run(`update servers set ${change} where id = $1`, [parseId('server', server)]);
function withQuotas(quotas: Partial<Service['settings']['quotas']>): Service {
  const { settings } = world.service;
  return { ...world.service, settings: { ...settings, quotas: { ...settings.quotas, ...quotas } } };
}
const inMs = (ms: number) => formatRfc3339(new Date(world.clock.now().getTime() + ms));

describe('a snapshot', () => {
  afterEach(async () => {
    await serverIs(`status = 'running', generation = 1`);
    await world.db.run(`delete from snapshots where status <> 'creating' and expires_at is null`);
  });

  it('a snapshot is creating in the response, and ready with its size later', async () => {
    const snapshot = await create({ name: 'first' });
    const { id, created_at, action, ...others } = snapshot;
    assert.equal(action?.command, 'snapshot.create');
    assert.match(id, /^snap_[a-z2-7]{26}$/);
    assert.ok(created_at);
    assert.deepEqual(others, {
      object: 'snapshot',
      server,
      region,
      name: 'first',
      size_gb: 0,
      status: 'creating',
      type: 'manual',
      protection: { delete: false },
      labels: {},
      expires_at: null,
    });
    assert.deepEqual(await refusal(remove(id)), { code: 'conflict_state' });
    await world.runDueTasks();
    assert.deepEqual(await get(id), snapshot);
    await world.assertInvariants();
    await world.runUntilIdle();
    const ready = await get(id);
    assert.equal(ready.status, 'ready');
    assert.ok(ready.size_gb > 0 && ready.size_gb <= 10);
    assert.deepEqual(await world.recordedEvents(id), ['snapshot.ready ready']);
    await world.assertInvariants();
  });

  it('a snapshot that the driver could not create ends in error, and its remains are removed', async () => {
    await world.faults.set({ driver: 'compute', operation: 'snapshot', times: 1 });
    const { id } = await create();
    await world.runUntilIdle();
    assert.deepEqual([(await get(id)).status, (await get(id)).size_gb], ['error', 0]);
    assert.deepEqual(await world.recordedEvents(id), ['snapshot.failed error']);
    assert.equal(await atDriver(id), 0);
    await remove(id);
    assert.deepEqual(await refusal(get(id)), { code: 'not_found' });
    await world.runUntilIdle();
    await world.assertInvariants();
  });

  it('an unnamed snapshot is named after the time, and a server can have several', async () => {
    const [first, second] = await Promise.all([create(), create()]);
    assert.match(first.name, /^snapshot-2030\d{4}-\d{6}$/);
    await world.runUntilIdle();
    assert.deepEqual([(await get(first.id)).status, (await get(second.id)).status], ['ready', 'ready']);
  });

  it("a snapshot requires the customer's own server, running or stopped and idle", async () => {
    const stranger = await world.fixtures.addCustomer();
    const foreign = createSnapshot(world.service, stranger, server, {});
    assert.deepEqual(await refusal(foreign), { code: 'not_found' });
    assert.deepEqual(await refusal(createSnapshot(world.service, actor, 'srv_x', {})), { code: 'not_found' });
    await serverIs(`status = 'installing'`);
    assert.deepEqual(await refusal(create()), { code: 'conflict_state' });
    await serverIs(`status = 'stopped'`);
    const { id } = await create();
    for (const work of [getSnapshot, deleteSnapshot] as const) {
      assert.deepEqual(await refusal(work(world.service, stranger, id)), { code: 'not_found' });
    }
    await world.runUntilIdle();
    await remove(id);
    assert.equal(await atDriver(id), 1);
    await world.runUntilIdle();
    assert.equal(await atDriver(id), 0);
  });

  it('the snapshot quota per server holds under concurrent requests', async () => {
    const tight = withQuotas({ snapshotsPerServer: 3 });
    const many = await Promise.allSettled([1, 2, 3, 4, 5].map(() => create({}, tight)));
    assert.equal(many.filter(({ status }) => status === 'fulfilled').length, 3);
    assert.deepEqual(await refusal(create({}, tight)), { code: 'limit_reached', limit: 3, used: 3 });
    await world.runUntilIdle();
  });

  it('the snapshot quota per customer counts snapshots of removed servers', async () => {
    const tight = withQuotas({ snapshots: 4 });
    const owner = await world.fixtures.addCustomer(10_000n);
    const [one, other, gone] = await Promise.all([1, 2, 3].map(() => world.server(owner, region)));
    const make = (of = '') => createSnapshot(tight, owner, of, {});
    await make(gone);
    await world.runUntilIdle();
    await destroyServer(world.service, owner, gone ?? '');
    await world.runUntilIdle();
    const many = await Promise.allSettled([one, other, one, other, one].map(make));
    assert.equal(many.filter(({ status }) => status === 'fulfilled').length, 3);
    assert.deepEqual(await refusal(make(other)), { code: 'limit_reached', limit: 4, used: 4 });
    await world.runUntilIdle();
    await world.assertInvariants();
  });

  it('a snapshot is unavailable on hardware that cannot create one', async () => {
    const { capabilities } = world.service.compute;
    const compute = new Proxy(world.service.compute, {
      get: (driver, name) =>
        name === 'capabilities'
          ? { ...capabilities, vps: { ...capabilities.vps, snapshots: false } }
          : Reflect.get(driver, name),
    });
    assert.deepEqual(await refusal(create({}, { ...world.service, compute })), {
      code: 'unavailable',
      field: '',
    });
  });

  it('a snapshot requires a valid name, and an expiration no more than 30 seconds in the past', async () => {
    for (const expires_at of ['tomorrow', '2030-02-30T00:00:00Z', inMs(-31_000), inMs(-HOUR_MS)]) {
      assert.deepEqual(await refusal(create({ expires_at })), { code: 'bad_expiry' }, expires_at);
    }
    await assert.rejects(create({ name: 'a\nb' }), InvalidRequest);
    assert.equal((await create({ expires_at: null })).expires_at, null);
    const { id } = await create({ expires_at: inMs(-29_000) });
    await world.runUntilIdle();
    assert.deepEqual(await refusal(get(id)), { code: 'not_found' });
    assert.deepEqual(await world.recordedEvents(id), ['snapshot.ready ready']);
  });

  it('an expired snapshot is deleted, also at the driver, unless a restore still uses it', async () => {
    const other = await world.server(actor, region);
    const expires_at = inMs(DAY_MS);
    const { id } = await create({ expires_at });
    await world.db.run(
      `insert into operations (id, server_id, kind, step, snapshot_id, placed_at, due_at, created_at)
       values (gen_random_uuid(), $1, 'restore', 'none', $2, now(), '2040-01-01', now())`,
      [parseId('server', other), parseId('snapshot', id)],
    );
    await world.runDueTasks();
    world.clock.advanceS(5);
    await world.runDueTasks();
    assert.deepEqual([(await get(id)).status, (await get(id)).expires_at], ['ready', expires_at]);
    assert.deepEqual(await refusal(remove(id)), { code: 'conflict_state' });
    world.clock.advanceS(DAY_MS / 1000);
    await world.runDueTasks();
    assert.equal((await get(id)).status, 'ready');
    await world.db.run(`delete from operations where kind = 'restore'`);
    world.clock.advanceS(60);
    await world.runDueTasks();
    assert.deepEqual(await refusal(get(id)), { code: 'not_found' });
    assert.equal(await atDriver(id), 0);
    await world.assertInvariants();
  });
});

describe('a snapshot in progress', () => {
  let id: string;
  beforeEach(async () => {
    await serverIs(`status = 'running', generation = 1`);
    id = (await create()).id;
  });
  afterEach(async () => {
    await world.runUntilIdle();
    await remove(id);
    await world.runUntilIdle();
  });

  it('a snapshot fails if the intended disk is replaced before the driver starts', async () => {
    await serverIs('generation = 2');
    await world.runUntilIdle();
    assert.deepEqual([(await get(id)).status, await atDriver(id)], ['error', 0]);
  });

  it('a snapshot succeeds if the rebuild comes after the driver has started', async () => {
    await world.runDueTasks();
    await serverIs('generation = 2');
    await world.runUntilIdle();
    assert.equal((await get(id)).status, 'ready');
  });

  it('a snapshot is retried while the driver fails, and fails after an hour', async () => {
    mock.method(world.service.compute, 'snapshot', async () => {
      throw new ComputeError('transient', 'no answer');
    });
    await world.runDueTasks();
    world.clock.advanceS(3_600);
    await world.runDueTasks();
    assert.equal((await get(id)).status, 'creating');
    world.clock.advanceS(30);
    await world.runUntilIdle();
    assert.deepEqual(await world.recordedEvents(id), ['snapshot.failed error']);
  });

  it('a snapshot starts, ends, and is announced once, even if its task runs twice or is killed', async () => {
    await assert.rejects(ensure(id, crashingService(world.service, 'snapshot')), /killed/);
    await Promise.all([ensure(id), ensure(id)]);
    world.clock.advanceS(5);
    await assert.rejects(ensure(id, crashingService(world.service, 'snapshot')), /killed/);
    assert.equal((await get(id)).status, 'creating');
    await Promise.all([ensure(id), ensure(id), ensure(id)]);
    await world.runUntilIdle();
    assert.deepEqual(await world.recordedEvents(id), ['snapshot.ready ready']);
    await world.assertInvariants();
  });
});

describe('snapshot removal', () => {
  it('a snapshot is removed at the driver despite a killed process and driver faults', async () => {
    const { id } = await create();
    await world.runUntilIdle();
    await remove(id);
    await assert.rejects(ensure(id, crashingService(world.service, 'removeSnapshot')), /killed/);
    await world.faults.set({ driver: 'compute', operation: 'removeSnapshot', times: 3 });
    await world.runUntilIdle();
    assert.equal(await atDriver(id), 0);
    await world.assertInvariants();
  });
});

describe('listSnapshots', () => {
  it("the snapshot list shows the customer's own, sorted and filtered", async () => {
    const owner = await world.fixtures.addCustomer(10_000n);
    const own = await world.server(owner, region);
    const ids: string[] = [];
    for (const name of ['b', 'c', 'a']) {
      world.clock.advanceS(1);
      ids.push((await createSnapshot(world.service, owner, own, { name })).id);
    }
    const [b = '', c = '', a = ''] = ids;
    await create();
    const request: PageRequest = { filter: {}, sort: 'created_at', descending: true, after: null, size: 2 };
    const page = async (wanted: Partial<PageRequest> = {}) => {
      const { items, next } = await listSnapshots(world.service, owner, { ...request, ...wanted });
      return { ids: items.map(({ id }) => id), next };
    };
    const first = await page();
    assert.deepEqual(first.ids, [a, c]);
    assert.deepEqual(await page({ after: first.next }), { ids: [b], next: null });
    assert.deepEqual((await page({ sort: 'name', descending: false })).ids, [a, b]);
    assert.deepEqual((await page({ filter: { name: 'b' } })).ids, [b]);
    assert.deepEqual((await page({ filter: { status: 'ready' } })).ids, []);
    assert.equal((await page({ size: 9, filter: { server: own, status: 'creating' } })).ids.length, 3);
    assert.deepEqual((await page({ filter: { server } })).ids, []);
    await world.runUntilIdle();
  });
});
