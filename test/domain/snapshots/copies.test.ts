/** Copies of snapshots in a real S3 server: made, used after the loss of a host, and deleted. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { readGauges } from '../../../src/domain/health/metrics.ts';
import { sweepFiles } from '../../../src/domain/images/store.ts';
import { copyFindings } from '../../../src/domain/snapshots/copies/read.ts';
import { NO_RADOSGW } from '../../support/radosgw.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { CopiesWorld, snapshotId } from './copies-world.ts';

const MIB = 1024n ** 2n;

describe('copies of snapshots in an S3 store', { skip: FULL_ONLY.skip || NO_RADOSGW }, () => {
  let world: CopiesWorld;
  before(async () => {
    world = await CopiesWorld.open();
  });
  after(() => world?.close());
  afterEach(async () => {
    for (const operation of ['prepareCopy', 'sendCopy', 'fetchCopy']) await arm(`copies.${operation}`, 0);
    await world.assertVerified();
  });
  const arm = (operation: string, times: number) =>
    world.world.sandbox('faults', { driver: 'compute', operation, times });
  const remove = async (snapshot: string) => {
    assert.equal((await world.api.delete(`/snapshots/${snapshot}`)).status, 204);
    await world.eventually(async () => (await world.copy(snapshot)) === undefined);
    assert.deepEqual(await world.stored(snapshot), []);
  };

  it('a snapshot is copied in parts, which failing calls and a store that is away only delay', async () => {
    const { shown } = await world.server();
    await world.store.stop();
    await arm('copies.prepareCopy', 1);
    const snapshot = await world.snapshot(shown);
    await world.eventually(async () => ((await world.copy(snapshot))?.attempts ?? 0) > 0);
    assert.equal((await world.copy(snapshot))?.stored, false);
    assert.equal((await world.copy(snapshot))?.prepared, false, 'its host has a file meanwhile');
    await arm('copies.sendCopy', 1);
    await world.store.resume();
    await world.retryNow();
    await world.copied(snapshot);
    assert.ok(((await world.copy(snapshot))?.size_bytes ?? 0n) > 5n * MIB, 'one part is no test');
    const name = `skerry-${await world.database()}/snapshots/${snapshotId(snapshot)}`;
    assert.deepEqual(await world.stored(snapshot), [name]);
    await remove(snapshot);
  });

  it('a lost host takes no copied snapshot, and servers are created and restored from it', async () => {
    const source = await world.server();
    const copied = await world.snapshot(source.shown);
    await world.copied(copied);
    await arm('copies.prepareCopy', 1000);
    const lost = await world.snapshot(source.shown);
    await world.lose(source);
    await arm('copies.prepareCopy', 0);
    await world.eventually(async () => (await world.snapshotStatus(lost)) === 'error');
    assert.equal(await world.snapshotStatus(copied), 'ready');
    await world.eventually(async () => (await world.copy(lost)) === undefined);
    await arm('copies.fetchCopy', 1);
    const { body } = await world.api.post(`/servers/${source.shown}/restore`, { snapshot: copied });
    assert.equal(body.status, 'installing');
    await world.eventually(async () => (await world.statusOf(source.shown)) === 'running');
    assert.equal(await world.hostOfSnapshot(copied), await world.hostOf(source.shown));
    const other = await world.server(copied);
    assert.equal(await world.statusOf(other.shown), 'running');
    await remove(copied);
  });

  it('a copy with other bytes is never restored', async () => {
    const server = await world.server();
    const { shown } = server;
    const snapshot = await world.snapshot(shown);
    await world.copied(snapshot);
    const [Key = ''] = await world.stored(snapshot);
    const client = world.store.client();
    await client.send(
      new PutObjectCommand({ Bucket: world.store.bucket, Key, Body: Buffer.alloc(9_000_000) }),
    );
    client.destroy();
    await world.lose(server);
    const { headers } = await world.api.post(`/servers/${shown}/restore`, { snapshot });
    await world.eventually(async () => (await world.statusOf(shown)) === 'running');
    const action = (await world.api.get(`/actions/${headers.get('x-action-id')}`)).body;
    assert.deepEqual([action.status, action.error.code], ['error', 'host_failed']);
    assert.equal(await world.hostOfSnapshot(snapshot), null);
    await remove(snapshot);
  });

  it('a deletion while the copy runs leaves nothing', async () => {
    const { shown } = await world.server();
    await arm('copies.sendCopy', 1000);
    const snapshot = await world.snapshot(shown);
    await world.eventually(async () => (await world.stored(snapshot)).length > 0);
    await remove(snapshot);
  });

  it('the operator copies existing snapshots, and sees copies that fail or are late', async () => {
    const { shown } = await world.server();
    const snapshot = await world.snapshot(shown);
    await world.copied(snapshot);
    const id = [snapshotId(snapshot)];
    await world.service.db.run('delete from snapshot_copies where snapshot_id = $1', id);
    const queued = await world.operator('snapshots', 'copy');
    assert.match(queued.out, /^1 snapshots queued/);
    // The object is there already.
    await world.copied(snapshot);
    assert.match((await world.operator('snapshots', 'copy')).out, /^0 snapshots queued/);
    const finding = async () => (await copyFindings(world.service))[0];
    assert.equal((await finding())?.level, 'ok');
    assert.match((await world.operator('snapshots', 'copies')).out, /^1 +\d+ +0 +0 +0 +0$/m);
    await world.service.db.run(
      `update snapshot_copies
          set stored_at = null, attempts = 1, last_fault = 'no answer',
              requested_at = now() - interval '2 days',
              due_at = now() + interval '1 hour'
        where snapshot_id = $1`,
      id,
    );
    const { level, message } = (await finding()) ?? assert.fail('no finding');
    assert.equal(level, 'warn');
    assert.match(message, /1 copies wait, 1 for over a day, 1 failed last: no answer$/);
    const { skerry_snapshot_copies: gauges } = await readGauges(world.service);
    const late = gauges.find(({ labels }) => labels.state === 'late');
    assert.equal(late?.value, 1);
    await world.retryNow();
    await world.copied(snapshot);
    await remove(snapshot);
  });

  it('a copy that the store lost is made again', async () => {
    const { shown } = await world.server();
    const snapshot = await world.snapshot(shown);
    await world.copied(snapshot);
    await world.service.blobs.copies?.remove(snapshotId(snapshot));
    assert.deepEqual(await world.stored(snapshot), []);
    assert.equal(await sweepFiles(world.service, new Date()), 0);
    assert.equal((await world.copy(snapshot))?.settled, false);
    await world.copied(snapshot);
    assert.equal((await world.stored(snapshot)).length, 1);
    await remove(snapshot);
  });

  it('the sweep keeps what is copied, and deletes week-old objects of unknown snapshots', async () => {
    const { shown } = await world.server();
    const snapshot = await world.snapshot(shown);
    await world.copied(snapshot);
    const later = new Date(Date.now() + 8 * 86_400_000);
    assert.equal(await sweepFiles(world.service, later), 0);
    await world.service.db.run('delete from snapshot_copies where snapshot_id = $1', [snapshotId(snapshot)]);
    assert.equal(await sweepFiles(world.service, later), 1);
    assert.deepEqual(await world.stored(snapshot), []);
  });
});
