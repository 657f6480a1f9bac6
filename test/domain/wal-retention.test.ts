/** The segments of the write-ahead log that a restore needs, and those that retention deletes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { deleteOld, findExpired, findNewestBase } from '../../src/domain/upkeep/wal/expire.ts';
import { baseId, followSegments, parseSegmentId, segmentId } from '../../src/domain/upkeep/wal/names.ts';
import { storeSegments } from '../../src/domain/upkeep/wal/segments.ts';
import { listWalArchives, openWalArchive } from '../../src/drivers/blobs/wal-on-disk.ts';
import { DAY_MS } from '../../src/kernel/time.ts';
import { content, MemorySpool, openArchives, segment } from '../support/wal-archives.ts';

const PERIOD = { days: 7, proved: null, signal: new AbortController().signal };
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
    await deleteOld([current], { ...PERIOD, current });
    assert.equal((await current.bases.list()).length, 3);
    await current.bases.write(base(1, 10, 0.1).id, content(), 1);
    await deleteOld([current], { ...PERIOD, current });
    assert.equal((await current.bases.list()).length, 3);
  });

  it('keeps the newest base that could be restored, with all that follows', async (t) => {
    const { folder } = await openArchives(t);
    const current = openWalArchive(folder, { database: randomUUID(), cluster: '1' });
    const [old, proved, ...failed] = [
      base(1, 1, 12),
      base(1, 5, 10),
      base(1, 9, 8),
      base(1, 12, 1),
      base(1, 15, 0),
    ];
    for (const one of [old, proved, ...failed])
      await current.bases.write(one?.id ?? assert.fail(), content(), 1);
    await deleteOld([current], { ...PERIOD, current, proved: proved?.startedAt ?? null });
    assert.deepEqual((await current.bases.list()).length, 5);
    await deleteOld([current], { ...PERIOD, current });
    const left = (await current.bases.list()).sort();
    assert.deepEqual(left, failed.map(({ id }) => id).sort());
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
    await deleteOld(archives, { ...PERIOD, current });
    const left = (await listWalArchives(folder)).map(({ cluster }) => cluster);
    assert.deepEqual([left, (await earlier.segments.list()).length], [['2'], 0]);
    assert.deepEqual(await current.segments.list(), ids(segment(1, 1)));
  });
});
