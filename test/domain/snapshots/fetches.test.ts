/** Servers from a copied snapshot whose host is lost, while the store is away. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { NO_RADOSGW } from '../../support/radosgw.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { CopiesWorld, snapshotId } from './copies-world.ts';

describe('fetches of snapshots from an S3 store', { skip: FULL_ONLY.skip || NO_RADOSGW }, () => {
  let world: CopiesWorld;
  before(async () => {
    world = await CopiesWorld.open();
  });
  after(() => world?.close());
  afterEach(async () => await world.assertVerified());
  const remove = async (snapshot: string) => {
    assert.equal((await world.api.delete(`/snapshots/${snapshot}`)).status, 204);
    await world.eventually(async () => (await world.copy(snapshot)) === undefined);
    assert.deepEqual(await world.stored(snapshot), []);
  };

  it('two servers from a copy get it one after the other, however long the store is away', async () => {
    const source = await world.server();
    const snapshot = await world.snapshot(source.shown);
    await world.copied(snapshot);
    await world.lose(source);
    await world.store.stop();
    const ordered = [await world.order(snapshot), await world.order(snapshot)];
    const faults = async () => {
      const rows = await world.service.db.rows<{ fault: string | null }>(
        'select last_fault as fault from operations where snapshot_id = $1 order by last_fault',
        [snapshotId(snapshot)],
      );
      return rows.map(({ fault }) => fault ?? '').join();
    };
    await world.eventually(async () => /^another server.*file store does not answer/.test(await faults()));
    await world.world.advance(50 * 60);
    await world.eventually(async () => /^another server.*file store does not answer/.test(await faults()));
    await world.store.resume();
    for (const server of ordered)
      await world.eventually(async () => (await world.statusOf(server)) === 'running');
    assert.notEqual(await world.hostOfSnapshot(snapshot), null);
    await remove(snapshot);
  });

  it('a fetch that no server needs leaves nothing on its host', async () => {
    const source = await world.server();
    const snapshot = await world.snapshot(source.shown);
    await world.copied(snapshot);
    await world.lose(source);
    await world.store.stop();
    const server = await world.order(snapshot);
    const fetching = async () => (await world.copy(snapshot))?.fetching;
    await world.eventually(async () => (await fetching()) ?? false);
    await world.retryNow();
    assert.equal((await world.api.delete(`/servers/${server}`)).status, 202);
    await world.eventually(async () => {
      await world.retryNow();
      return !(await fetching());
    });
    await world.store.resume();
    assert.equal(await world.hostOfSnapshot(snapshot), null);
    assert.equal((await world.copy(snapshot))?.stored, true);
    await remove(snapshot);
  });
});
