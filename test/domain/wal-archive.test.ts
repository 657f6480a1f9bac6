/** The archive of the write-ahead log: what is stored, what a restore needs, and what retention deletes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openArchiving } from '../../src/domain/upkeep/wal/archive.ts';
import { deleteOld, findExpired, findNewestBase } from '../../src/domain/upkeep/wal/expire.ts';
import { baseId, followSegments, parseSegmentId, segmentId } from '../../src/domain/upkeep/wal/names.ts';
import { BASE_RETRY_MS, SPOOL_MAX } from '../../src/domain/upkeep/wal/plan.ts';
import { storeSegments } from '../../src/domain/upkeep/wal/segments.ts';
import { listWalArchives, openWalArchive } from '../../src/drivers/blobs/wal-on-disk.ts';
import { createLogger } from '../../src/kernel/logger.ts';
import { DAY_MS } from '../../src/kernel/time.ts';
import type { StoredBase, WalSpool } from '../../src/store/embedded/archiving.ts';
import { createBackupFolder } from '../support/backups.ts';
import { openScratchDatabase } from '../support/database.ts';

const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');
/** The segment with this number on a timeline. */
const segment = (timeline: number, number: number) =>
  hex(timeline) + hex(Math.floor(number / 0x100)) + hex(number % 0x100);
const daysAgo = (days: number) => new Date(Math.floor((Date.now() - days * DAY_MS) / 1000) * 1000);

describe('the segments of a restore', () => {
  const all = [0xfe, 0xff, 0x100, 0x101, 0x103].map((number) => segment(1, number));

  it('follow each other over the end of a log file, up to a missing segment', () => {
    const found = followSegments([...all, segment(2, 0x200)], segment(1, 0xfe), null);
    assert.deepEqual(found, { run: all.slice(0, 4), missing: segment(1, 0x102) });
  });

  it('end with the last needed segment, or the last of the timeline', () => {
    const upTo = followSegments(all, segment(1, 0xfe), segment(1, 0x100));
    assert.deepEqual(upTo, { run: all.slice(0, 3), missing: null });
    const rest = followSegments([...all, segment(2, 0x104)], segment(1, 0x103), null);
    assert.deepEqual(rest, { run: [segment(1, 0x103)], missing: null });
  });

  it('are none if the first is missing', () => {
    assert.deepEqual(followSegments(all, segment(1, 0x102), null).run, []);
  });
});

describe('retention of the log', () => {
  const base = (timeline: number, number: number, days: number) => {
    const name = { segment: segment(timeline, number), startedAt: daysAgo(days) };
    return { id: baseId(name), ...name };
  };
  const ids = (...segments: string[]) => segments.map(segmentId);

  it('keeps the newest base from before the period, and every segment since', () => {
    const bases = [base(1, 1, 9), base(1, 5, 8), base(1, 9, 1)];
    const segments = ids(...[1, 2, 4, 5, 8, 9].map((number) => segment(1, number)));
    const expired = findExpired(bases, segments, { before: daysAgo(7).getTime(), keepsNewest: true });
    assert.deepEqual(expired.bases, [bases[0]?.id]);
    assert.deepEqual(
      expired.segments.map(parseSegmentId),
      [1, 2, 4].map((number) => segment(1, number)),
    );
  });

  it('compares segments of one timeline only: a restore goes back to an earlier number', () => {
    const bases = [base(1, 100, 8), base(2, 50, 3)];
    const segments = ids(segment(1, 99), segment(1, 101), segment(2, 49), segment(2, 51), segment(3, 60));
    const expired = findExpired(bases, segments, { before: daysAgo(7).getTime(), keepsNewest: true });
    assert.deepEqual(expired.bases, []);
    assert.deepEqual(expired.segments, ids(segment(1, 99), segment(2, 49), segment(3, 60)));
  });

  it('deletes nothing at once after a leap of the clock', async (t) => {
    const { folder } = await openArchives(t);
    const current = openWalArchive(folder, { database: randomUUID(), cluster: '1' });
    for (const one of [base(1, 1, 40), base(1, 5, 39), base(1, 9, 0)])
      await current.bases.write(one.id, content(), 1);
    await deleteOld([current], { current, days: 7 });
    assert.equal((await current.bases.list()).length, 3);
    await current.bases.write(base(1, 10, 0.1).id, content(), 1);
    await deleteOld([current], { current, days: 7 });
    assert.equal((await current.bases.list()).length, 3);
  });

  it('counts no base of a clock that was ahead', () => {
    const [older, newer, ahead] = [base(1, 1, 2), base(1, 5, 1), base(1, 9, -30)];
    assert.deepEqual(findNewestBase([older, newer, ahead].map(({ id }) => id)), newer.startedAt);
    assert.equal(findNewestBase([ahead.id]), null);
  });

  it('deletes all of an earlier cluster once its last base has expired', async (t) => {
    const { folder, plan } = await openArchives(t);
    const database = randomUUID();
    const [earlier, current] = ['1', '2'].map((cluster) => openWalArchive(folder, { database, cluster }));
    assert.ok(earlier && current);
    for (const archive of [earlier, current]) {
      await archive.bases.write(base(1, 1, 8).id, content(), 1);
      await storeSegments(plan, { ...plan, archive, spool: new MemorySpool([segment(1, 1)]) });
    }
    const archives = (await listWalArchives(folder)).map((name) => openWalArchive(folder, name));
    await deleteOld(archives, { current, days: 7 });
    const left = (await listWalArchives(folder)).map(({ cluster }) => cluster);
    assert.deepEqual([left, (await earlier.segments.list()).length], [['2'], 0]);
    assert.deepEqual(await current.segments.list(), ids(segment(1, 1)));
  });
});

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

async function openArchives(t: TestContext) {
  const keys = await createBackupFolder();
  const folder = await mkdtemp(join(tmpdir(), 'skerry-archive-'));
  t.after(async () => {
    await keys.remove();
    await rm(folder, { recursive: true });
  });
  const log = createLogger('silent');
  const { signal } = new AbortController();
  return { folder, plan: { log, signal, plan: { recipients: [keys.recipient] } } };
}

async function* content(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('a base');
}

class MemorySpool implements WalSpool {
  #segments: readonly string[];
  #whole = false;
  #base: StoredBase | null = null;

  constructor(segments: readonly string[]) {
    this.#segments = segments;
  }

  add(name: string): void {
    this.#segments = [...this.#segments, name];
  }

  list = async () => [...this.#segments];
  read = async () => Buffer.alloc(64);
  remove = async (name: string) => {
    this.#segments = this.#segments.filter((each) => each !== name);
  };
  drop = async () => {
    this.#whole = false;
    this.#segments = [];
  };
  ageMs = async () => null;
  brokenMs = async () => (this.#whole ? null : 0);
  isWhole = async () => this.#whole;
  begin = async (base: StoredBase) => {
    this.#base = base;
    this.#whole = true;
  };
  newestBase = async () => this.#base;
  saveProof = async () => undefined;
  readProof = async () => null;
  baseFile = '/srv/skerry/wal-base';
}
