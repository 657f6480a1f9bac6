/** Copies of snapshots in a real S3 server: made, used after the loss of a host, and deleted. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NO_RADOSGW } from '../../support/radosgw.ts';
import { CopiesWorld } from './copies-world.ts';

describe('copies of snapshots', { skip: NO_RADOSGW }, () => {
  let world: CopiesWorld;
  before(async () => {
    world = await CopiesWorld.open();
  });
  after(() => world?.close());

  it('a snapshot is copied in parts, and survives the loss of its host', async () => {
    const { shown, host } = await world.server();
    const snapshot = await world.snapshot(shown);
    await world.copied(snapshot);
    assert.equal((await world.stored(snapshot)).length, 1);
    await world.lose(host);
    assert.equal(await world.snapshotStatus(snapshot), 'ready');
    const { shown: other } = await world.server(snapshot);
    assert.notEqual(await world.hostOf(other), host);
    assert.equal(await world.snapshotStatus(snapshot), 'ready');
  });
});
