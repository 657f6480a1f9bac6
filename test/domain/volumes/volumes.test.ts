/** Volumes from their customer's side: every rule and refusal, and that a refusal changes nothing. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { attachVolume, detachVolume } from '../../../src/domain/volumes/attach.ts';
import { createVolume, deleteVolume, updateVolume } from '../../../src/domain/volumes/change.ts';
import { firstFreeDevice } from '../../../src/domain/volumes/disk.ts';
import { getVolume, listVolumes } from '../../../src/domain/volumes/read.ts';
import { formatId, parseId } from '../../../src/kernel/ids.ts';
import type { PageRequest } from '../../../src/spec/lists.ts';
import { R1 } from '../../support/fixtures.ts';
import { refusal, type VolumeWorld, volumeWorld } from './volume-world.ts';

let world: VolumeWorld;
let actor: CustomerActor;
let otherCustomer: CustomerActor;
let region: string;
let server: string;

before(async () => {
  world = await volumeWorld();
  actor = await world.fixtures.addCustomer(100_000n);
  otherCustomer = await world.fixtures.addCustomer(10_000n);
  region = await world.region();
  server = await world.server(actor, region);
});
after(() => world.close());
afterEach(async () => {
  await setStatus('running');
  await world.deleteVolumes(actor);
});

const attach = (id: string, to = server) => attachVolume(world.service, actor, id, { server: to });
const detach = (id: string) => detachVolume(world.service, actor, id);
const update = (id: string, patch: object) => updateVolume(world.service, actor, id, patch);
const get = (id: string) => getVolume(world.service, actor, id);
const remove = (id: string) => deleteVolume(world.service, actor, id);
const setStatus = (status: string, reason: string | null = null) => {
  const values = [parseId('server', server), status, reason];
  return world.db.run('update servers set status = $2, suspended_reason = $3 where id = $1', values);
};

function withQuotas(quotas: Partial<typeof world.service.settings.quotas>) {
  const { settings } = world.service;
  return { ...world.service, settings: { ...settings, quotas: { ...settings.quotas, ...quotas } } };
}

describe('a volume', () => {
  it('a new volume is detached, has default values, and uses no disk', async () => {
    const before = await world.usedDisk(region);
    const volume = await createVolume(world.service, actor, { name: 'data', size_gb: 50, region });
    const { id, created_at, action, ...others } = volume;
    assert.equal(action?.status, 'success');
    assert.match(id, /^vol_[a-z2-7]{26}$/);
    assert.ok(created_at);
    assert.deepEqual(others, {
      object: 'volume',
      name: 'data',
      size_gb: 50,
      region,
      attached_to: null,
      device: null,
      encrypted: false,
      filesystem: null,
      ...{ protection: { delete: false }, labels: {}, lost_at: null },
    });
    assert.deepEqual(await get(id), { ...volume, action: null });
    assert.equal(await world.usedDisk(region), before);
  });

  it('a new volume requires an existing region, a valid name, and a free quota', async () => {
    const body = { name: 'data', size_gb: 50, region };
    const create = (wanted: object) => refusal(createVolume(world.service, actor, { ...body, ...wanted }));
    assert.deepEqual(await create({ region: 'xxx' }), { code: 'unknown_reference', field: 'region' });
    assert.deepEqual(await create({ name: 'a\u0000b' }), { code: 'invalid_request' });
    await world.volume(actor, region);
    const tight = withQuotas({ volumes: 3 });
    const many = await Promise.allSettled([1, 2, 3, 4, 5].map(() => createVolume(tight, actor, body)));
    assert.equal(many.filter(({ status }) => status === 'fulfilled').length, 2);
    const full = { code: 'limit_reached', limit: 3, used: 3 };
    assert.deepEqual(await refusal(createVolume(tight, actor, body)), full);
  });

  it('an attachment is immediate in the response, and the driver follows', async () => {
    const id = await world.volume(actor, region);
    const answer = await attach(id);
    assert.deepEqual([answer.attached_to, answer.device], [server, '/dev/vdb']);
    assert.deepEqual(await world.recordedEvents(id), []);
    await world.runUntilIdle();
    assert.equal(await world.attachment(id), `${server} /dev/vdb`);
    assert.deepEqual(await world.recordedEvents(id), [`volume.attached ${server} /dev/vdb`]);
    const left = await detach(id);
    assert.deepEqual([left.attached_to, left.device], [null, null]);
    await world.runUntilIdle();
    assert.equal(await world.attachment(id), null);
    const attachedEvent = `volume.attached ${server} /dev/vdb`;
    assert.deepEqual(await world.recordedEvents(id), [attachedEvent, 'volume.detached']);
    await world.assertInvariants();
  });

  it('an attached volume uses the first free device', async () => {
    const ids = [await world.volume(actor, region), await world.volume(actor, region)];
    for (const id of ids) await attach(id);
    assert.deepEqual(await Promise.all(ids.map(async (id) => (await get(id)).device)), [
      '/dev/vdb',
      '/dev/vdc',
    ]);
    await detach(ids[0] ?? '');
    const next = await world.volume(actor, region);
    assert.equal((await attach(next)).device, '/dev/vdd', 'vdb is not confirmed as free yet');
    await world.runUntilIdle();
    assert.equal((await attach(ids[0] ?? '')).device, '/dev/vdb');
    await world.runUntilIdle();
    await world.assertInvariants();
    const taken = new Set(Array.from({ length: 25 }, (_, n) => `/dev/vd${String.fromCharCode(98 + n)}`));
    assert.equal(firstFreeDevice(taken), '/dev/vdaa');
    assert.equal(firstFreeDevice(taken.add('/dev/vdaa')), '/dev/vdab');
  });

  it('a detached volume can be attached to a running or stopped server of its region only', async () => {
    const id = await world.volume(actor, region);
    assert.deepEqual(await refusal(attach('vol_x')), { code: 'not_found' });
    assert.deepEqual(await refusal(attachVolume(world.service, otherCustomer, id, { server })), {
      code: 'not_found',
    });
    const unknown = { code: 'unknown_reference', field: 'server' };
    const theirs = await world.server(otherCustomer, region);
    for (const text of ['', 'srv_x', id, theirs]) assert.deepEqual(await refusal(attach(id, text)), unknown);
    const elsewhere = await world.server(actor, await world.region());
    assert.deepEqual(await refusal(attach(id, elsewhere)), { code: 'invalid_value', field: 'server' });
    await setStatus('installing');
    assert.deepEqual(await refusal(attach(id)), { code: 'conflict_state' });
    await setStatus('stopped');
    await attach(id);
    assert.deepEqual(await refusal(attach(id)), { code: 'conflict_state' });
    assert.deepEqual(await refusal(attach(id, 'srv_x')), { code: 'conflict_state' }, 'status first');
    assert.deepEqual(await refusal(remove(id)), { code: 'conflict_state' });
    await detach(id);
    assert.deepEqual(await refusal(detach(id)), { code: 'conflict_state' });
    await world.runUntilIdle();
    await setStatus('running');
    await world.assertInvariants();
  });

  it('a volume stays with a server that the operator froze until it is released', async () => {
    const id = await world.volume(actor, region);
    await attach(id);
    await world.runUntilIdle();
    await setStatus('suspended', 'operator');
    assert.deepEqual(await refusal(detach(id)), { code: 'conflict_state' });
    assert.equal((await get(id)).attached_to, server);
    await setStatus('suspended', 'balance');
    assert.equal((await detach(id)).attached_to, null);
  });

  it('a volume is unavailable for a dedicated server, whose hardware takes none', async () => {
    await world.fixtures.addPlans([region], [R1]);
    await world.fixtures.addMachines(1, R1, region);
    const order = { regionId: region, plan: R1 };
    const { server: row } = await deploy(world.service, actor, world.fixtures.buildOrder(order));
    await world.runUntilIdle();
    const id = await world.volume(actor, region);
    assert.deepEqual(await refusal(attach(id, formatId('server', row.id))), {
      code: 'unavailable',
      field: 'server',
    });
  });

  it('a volume grows online and never shrinks', async () => {
    const id = await world.volume(actor, region);
    assert.equal((await update(id, { size_gb: 12, name: 'more' })).size_gb, 12);
    await attach(id);
    await world.runUntilIdle();
    const used = await world.usedDisk(region);
    const answer = await update(id, { size_gb: 20 });
    assert.deepEqual([answer.size_gb, answer.name, answer.device], [20, 'more', '/dev/vdb']);
    assert.equal(await world.usedDisk(region), used + 8);
    await world.runUntilIdle();
    const row = await world.db.row('select size_gb from sim.volumes where id = $1', [parseId('volume', id)]);
    assert.deepEqual(row, { size_gb: 20 });
    assert.deepEqual(await refusal(update(id, { size_gb: 19 })), { code: 'invalid_value', field: 'size_gb' });
    assert.deepEqual(await update(id, {}), { ...answer, action: null });
    const foreign = updateVolume(world.service, otherCustomer, id, {});
    assert.deepEqual(await refusal(foreign), { code: 'not_found' });
    await world.assertInvariants();
  });

  it('a deleted volume disappears at once, and its disk is freed after the driver removed it', async () => {
    const id = await world.volume(actor, region);
    const before = await world.usedDisk(region);
    await attach(id);
    await world.runUntilIdle();
    assert.equal(await world.usedDisk(region), before + 10);
    await detach(id);
    await world.faults.set({ driver: 'compute', operation: 'removeVolume', times: 1 });
    await remove(id);
    assert.deepEqual(await refusal(get(id)), { code: 'not_found' });
    assert.deepEqual(await refusal(remove(id)), { code: 'not_found' });
    assert.deepEqual(await refusal(attach(id)), { code: 'not_found' });
    await world.runDueTasks();
    assert.equal(await world.usedDisk(region), before + 10, 'the driver has not removed it yet');
    await world.assertInvariants();
    await world.runUntilIdle();
    assert.equal(await world.usedDisk(region), before);
    const attachedEvent = `volume.attached ${server} /dev/vdb`;
    assert.deepEqual(await world.recordedEvents(id), [attachedEvent, 'volume.detached']);
    assert.deepEqual(
      await world.db.rows('select id from sim.volumes where id = $1', [parseId('volume', id)]),
      [],
    );
    await world.assertInvariants();
  });
});

describe('volume disk space', () => {
  it('the disk of a volume is reserved on the host of its server, and moves with the volume', async () => {
    // 15 GiB per host: a server of 10 GiB, and 5 GiB more.
    const small = await world.region([1, 1]);
    const tight = await world.server(actor, small);
    const id = await world.volume(actor, small);
    assert.deepEqual(await refusal(attach(id, tight)), { code: 'unavailable', field: 'server' });
    assert.equal(await world.usedDisk(small), 10);
    // Two hosts of 25 GiB with one server each.
    const wide = await world.region([2]);
    const one = await world.server(actor, wide);
    await world.db.run('update hosts set draining = true where region_id = $1', [wide]);
    await world.fixtures.addHosts([2], wide);
    const other = await world.server(actor, wide);
    const moving = await world.volume(actor, wide);
    const used = async () => [await world.usedDiskOnHostOf(one), await world.usedDiskOnHostOf(other)];
    await attach(moving, one);
    await world.runUntilIdle();
    assert.deepEqual(await used(), [20, 10]);
    assert.deepEqual(await refusal(update(moving, { size_gb: 16 })), {
      code: 'unavailable',
      field: 'size_gb',
    });
    await update(moving, { size_gb: 15 });
    assert.deepEqual(await used(), [25, 10]);
    await detach(moving);
    await attach(moving, other);
    assert.deepEqual(await used(), [10, 25]);
    await world.runUntilIdle();
    assert.equal(await world.attachment(moving), `${other} /dev/vdb`);
    await world.assertInvariants();
  });

  it('the disk quota holds for first attachments and for growth, also concurrently', async () => {
    const tight = withQuotas({ volumesDiskGb: 25 });
    const ids = await Promise.all([1, 2, 3, 4].map(() => world.volume(actor, region)));
    const all = await Promise.allSettled(ids.map((id) => attachVolume(tight, actor, id, { server })));
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 2);
    const attached = ids.filter((_, n) => all[n]?.status === 'fulfilled');
    const free = ids.find((id) => !attached.includes(id)) ?? '';
    const full = { code: 'limit_reached', limit: 25, used: 20 };
    assert.deepEqual(await refusal(attachVolume(tight, actor, free, { server })), full);
    const [first = ''] = attached;
    const grow = (sizeGb: number) => updateVolume(tight, actor, first, { size_gb: sizeGb });
    assert.deepEqual(await refusal(grow(16)), { ...full, field: 'size_gb' });
    const grown = await Promise.allSettled([
      grow(15),
      updateVolume(tight, actor, attached[1] ?? '', { size_gb: 15 }),
    ]);
    assert.equal(grown.filter(({ status }) => status === 'fulfilled').length, 1);
    // A volume that was attached before keeps its reservation: no more disk is needed.
    await detach(first);
    await attachVolume(tight, actor, first, { server });
    await world.runUntilIdle();
    await world.assertInvariants();
  });
});

describe('listVolumes', () => {
  it("the volume list shows the customer's own, sorted and filtered", async () => {
    const ids: string[] = [];
    for (const name of ['b', 'c', 'a']) {
      world.clock.advanceS(1);
      ids.push(await world.volume(actor, region, { name }));
    }
    const [b = '', c = '', a = ''] = ids;
    await world.volume(otherCustomer, region);
    await attach(c);
    const request: PageRequest = { filter: {}, sort: 'created_at', descending: true, after: null, size: 2 };
    const page = async (wanted: Partial<PageRequest> = {}) => {
      const { items, next } = await listVolumes(world.service, actor, { ...request, ...wanted });
      return { ids: items.map(({ id }) => id), next };
    };
    const first = await page();
    assert.deepEqual(first.ids, [a, c]);
    assert.deepEqual(await page({ after: first.next }), { ids: [b], next: null });
    assert.deepEqual((await page({ sort: 'name', descending: false })).ids, [a, b]);
    assert.deepEqual((await page({ filter: { name: 'b' } })).ids, [b]);
    assert.deepEqual((await page({ filter: { attached_to: server } })).ids, [c]);
    assert.deepEqual((await page({ filter: { attached_to: 'srv_x' } })).ids, []);
    assert.deepEqual((await page({ filter: { region: 'xxx' } })).ids, []);
    await remove(b);
    assert.equal((await page({ size: 10 })).ids.length, 2);
  });
});
