/** The archive of the write-ahead log: its segments, its bases, and its rounds. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openArchiving } from '../../src/domain/upkeep/wal/archive.ts';
import { isBaseDue } from '../../src/domain/upkeep/wal/base.ts';
import { baseId, segmentId } from '../../src/domain/upkeep/wal/names.ts';
import { BASE_RETRY_MS, SPOOL_MAX, type WalPlan } from '../../src/domain/upkeep/wal/plan.ts';
import { storeSegments } from '../../src/domain/upkeep/wal/segments.ts';
import { openWalArchive } from '../../src/drivers/blobs/wal-on-disk.ts';
import { HOUR_MS } from '../../src/kernel/time.ts';
import type { WalArchive } from '../../src/ports/archives.ts';
import { openScratchDatabase } from '../support/database.ts';
import { content, MemorySpool, openArchives, segment } from '../support/wal-archives.ts';

describe('the spool', () => {
  it('is stored and emptied, the same segment twice if need be', async (t) => {
    const { folder, plan } = await openArchives(t);
    const archive = openWalArchive(folder, { database: randomUUID(), cluster: '1' });
    for (let n = 0; n < 2; n += 1) {
      const spool = new MemorySpool([segment(1, 1), segment(1, 2)]);
      assert.equal(await storeSegments(plan, { ...plan, archive, spool }), true);
      assert.deepEqual(await spool.list(), []);
    }
    assert.deepEqual(await archive.segments.list(), [segment(1, 1), segment(1, 2)].map(segmentId));
  });

  it('is dropped when too much waits, and then is not whole', async (t) => {
    const { folder, plan } = await openArchives(t);
    const archive = openWalArchive(folder, { database: randomUUID(), cluster: '1' });
    const spool = new MemorySpool(Array.from({ length: SPOOL_MAX + 1 }, (_, number) => segment(1, number)));
    await spool.begin({ startedAt: new Date(), archive: archive.name });
    assert.equal(await storeSegments(plan, { ...plan, archive, spool }), false);
    assert.deepEqual([await spool.list(), await spool.isWhole()], [[], false]);
    assert.deepEqual(await archive.segments.list(), []);
  });
});

describe('a base that was not restored', () => {
  it('is followed by another one after six hours, unless it still waits to be restored', async (t) => {
    const { folder, plan } = await openArchives(t);
    const archive = openWalArchive(folder, { database: randomUUID(), cluster: '1' });
    const spool = new MemorySpool([]);
    const planned = { ...plan.plan, source: {} as WalPlan['source'], dataDir: folder, scratchFolder: folder };
    const isDue = async (hours: number, isProving = false) => {
      const startedAt = new Date(Date.now() - hours * HOUR_MS);
      await spool.begin({ startedAt, archive: archive.name });
      return await isBaseDue({ ...plan, spool, archive, plan: planned }, isProving);
    };
    assert.deepEqual([await isDue(5), await isDue(7), await isDue(7, true)], [false, true, false]);
    await spool.saveProof({ since: new Date(Date.now() - 8 * HOUR_MS), isProved: true, failed: null });
    assert.deepEqual([await isDue(7), await isDue(9), await isDue(25, true)], [true, false, true]);
  });

  it('is due at once at another place', async (t) => {
    const { folder, plan } = await openArchives(t);
    const spool = new MemorySpool([]);
    const planned = { ...plan.plan, source: {} as WalPlan['source'], dataDir: folder, scratchFolder: null };
    const [here, there] = ['1', '2'].map((cluster) => openWalArchive(folder, { database: 'x', cluster }));
    assert.ok(here && there);
    await spool.begin({ startedAt: new Date(), archive: here.name });
    const isDueAt = async (archive: WalArchive) =>
      await isBaseDue({ ...plan, spool, archive, plan: planned }, false);
    assert.deepEqual([await isDueAt(here), await isDueAt(there)], [false, true]);
  });
});

describe('a round of the archive', () => {
  it('does not repeat a base that failed before half an hour has passed', async (t) => {
    const { service, plan } = await openRounds(t);
    let attempts = 0;
    const open = async () => {
      attempts += 1;
      throw new Error('no connection');
    };
    const round = openArchiving(service, { ...plan, source: { open, withClient: () => service.db } });
    const signal = new AbortController().signal;
    await assert.rejects(round(signal), /no connection/);
    await round(signal);
    assert.equal(attempts, 1);
    const startedMs = performance.now();
    t.mock.method(performance, 'now', () => startedMs + BASE_RETRY_MS);
    await assert.rejects(round(signal), /no connection/);
    assert.equal(attempts, 2);
  });

  it('stores nothing in a folder that has lost its bases, and begins again if that is right', async (t) => {
    const { folder, plan } = await openArchives(t);
    const archive = openWalArchive(folder, { database: randomUUID(), cluster: '1' });
    const spool = new MemorySpool([segment(1, 1)]);
    const startedAt = new Date();
    const base = baseId({ segment: segment(1, 1), startedAt });
    await archive.bases.write(base, content(), 1);
    await spool.begin({ startedAt, archive: archive.name });
    const store = async () => await storeSegments(plan, { ...plan, archive, spool });
    assert.equal(await store(), true);
    await archive.bases.remove(base);
    for (const name of [segment(1, 2), segment(1, 3)]) spool.add(name);
    await assert.rejects(store(), /has none of the bases .* delete \/srv\/skerry\/wal-base$/);
    assert.equal((await spool.list()).length, 2);
    assert.deepEqual(await archive.segments.list(), [segmentId(segment(1, 1))]);
    // Staff deleted the file, or the archive of another cluster begins there.
    await spool.begin({ startedAt, archive: openWalArchive(folder, { database: 'x', cluster: '2' }).name });
    assert.equal(await store(), true);
    assert.equal((await archive.segments.list()).length, 3);
  });

  it('is left out while another process does one', async (t) => {
    const { service, plan } = await openRounds(t);
    let opened = 0;
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()];
    const openSpool = async () => {
      opened += 1;
      begun.resolve();
      return await held.promise;
    };
    const signal = new AbortController().signal;
    const first = openArchiving(service, { ...plan, openSpool })(signal);
    await begun.promise;
    await openArchiving(service, { ...plan, openSpool })(signal);
    held.resolve(null);
    await first;
    assert.equal(opened, 1);
  });
});

/** The service of a process, and its settings. */
async function openRounds(t: TestContext) {
  const { folder, plan } = await openArchives(t);
  const { db, close } = await openScratchDatabase({ poolSize: 2 });
  t.after(close);
  // Counts as the home of a database.
  await mkdir(join(folder, 'pg'));
  const database = randomUUID();
  const spool = new MemorySpool([]);
  return {
    service: { db, log: plan.log },
    plan: {
      ...plan.plan,
      source: db,
      dataDir: folder,
      days: 7,
      scratchFolder: null,
      openSpool: async () => spool,
      open: (cluster: string) => openWalArchive(folder, { database, cluster }),
      listArchives: async () => [],
    },
  };
}
