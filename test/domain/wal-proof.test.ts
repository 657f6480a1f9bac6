/** Each base is restored to verify it, with what the archive has of the log. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it, mock } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openService } from '../../src/compose/service.ts';
import { loadConfig } from '../../src/config.ts';
import { walFindings } from '../../src/domain/health/backups.ts';
import { runAlone } from '../../src/domain/upkeep/backups/perform.ts';
import { openArchiving } from '../../src/domain/upkeep/wal/archive.ts';
import { BASE_MAX_MS, PROOF_ATTEMPTS, PROOF_RETRY_MS } from '../../src/domain/upkeep/wal/plan.ts';
import { formatSessionTime, HOUR_MS } from '../../src/kernel/time.ts';
import type { ArchiveStore, WalArchive } from '../../src/ports/archives.ts';
import { openWalSpool } from '../../src/store/embedded/archiving.ts';
import { startEmbedded } from '../../src/store/embedded/index.ts';
import { createBackupFolder } from '../support/backups.ts';
import { FULL_ONLY } from '../support/runs.ts';

const SIGNAL = new AbortController().signal;

describe('a base', FULL_ONLY, () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => {
    world = await openWorld();
  });
  after(() => world?.close());

  it('is restored to verify it, once no backup is made', async () => {
    const { service, plan, spool, dataDir } = world;
    const round = openArchiving(service, plan);
    await runAlone(service, () => round(SIGNAL));
    const startedAt = (await spool.newestBase())?.startedAt ?? assert.fail('there is no base');
    assert.deepEqual(await spool.readProof(), { since: startedAt, isProved: false, failed: null });
    assert.deepEqual(await walFindings(service), [finding('ok', 'the write-ahead log is archived')]);
    world.passMs(PROOF_RETRY_MS);
    await round(SIGNAL);
    assert.deepEqual(await spool.readProof(), { since: startedAt, isProved: true, failed: null });
    const time = `${formatSessionTime(startedAt)} UTC`;
    const message = `the write-ahead log is archived; the newest verified base is of ${time}`;
    assert.deepEqual(await walFindings(service), [finding('ok', message)]);
    const left = (await readdir(dataDir)).filter((name) => name.startsWith('base-check-'));
    assert.deepEqual(left, []);
  });

  it('that is damaged or lacks its log fails at the third attempt, and the status says so', async () => {
    const { service, plan, spool } = world;
    const proved = (await spool.readProof())?.since ?? assert.fail('no base was verified');
    const cases: readonly [RegExp, (archive: WalArchive) => WalArchive][] = [
      [
        /^the archive is damaged or incomplete$/,
        (archive) => ({ ...archive, bases: cutShort(archive.bases) }),
      ],
      [
        /^the archive lacks a segment that the base needs$/,
        (archive) => ({ ...archive, segments: withoutNewest(archive.segments) }),
      ],
    ];
    for (const [reason, damage] of cases) {
      await spool.drop();
      const open = (cluster: string) => damage(plan.open(cluster));
      const round = openArchiving(service, { ...plan, open });
      for (let attempt = 1; attempt < PROOF_ATTEMPTS; attempt++) {
        await round(SIGNAL);
        world.passMs(PROOF_RETRY_MS);
      }
      const before = await spool.readProof();
      await round(SIGNAL);
      const { isProved, since, failed } = (await spool.readProof()) ?? assert.fail('there is no proof');
      assert.deepEqual([isProved, since], [true, proved]);
      assert.notDeepEqual(failed, before?.failed ?? null);
      assert.match(failed?.reason ?? '', reason);
      const startedAt = failed?.startedAt ?? assert.fail();
      assert.deepEqual(startedAt, (await spool.newestBase())?.startedAt);
      const time = `${formatSessionTime(startedAt)} UTC`;
      const message = `the base of ${time} could not be restored: ${failed?.reason}`;
      assert.deepEqual(await walFindings(service), [finding('fail', message)]);
    }
  });

  it('whose worker stops leaves no copy behind, and no result', async () => {
    const { service, plan, spool, dataDir } = world;
    await spool.drop();
    const stop = new AbortController();
    const before = await spool.readProof();
    const copies = async () => (await readdir(dataDir)).filter((name) => name.startsWith('base-check-'));
    const round = openArchiving(service, plan)(stop.signal);
    const rejected = assert.rejects(round, { name: 'AbortError' });
    while ((await copies()).length === 0) await pause(20);
    stop.abort();
    await rejected;
    assert.deepEqual([await copies(), await spool.readProof()], [[], before]);
  });

  it('that was never verified makes the status fail after two days', async () => {
    const { service, spool } = world;
    const since = new Date(Date.now() - BASE_MAX_MS - HOUR_MS);
    await spool.saveProof({ since, isProved: false, failed: null });
    assert.deepEqual(await walFindings(service), [finding('fail', 'no base was verified for 49 hours')]);
  });
});

function finding(level: string, message: string) {
  return { subject: 'point-in-time', level, message };
}

/** A service on an embedded database that archives its log. No worker runs. */
async function openWorld() {
  const folder = await mkdtemp('/tmp/skerry-proof-');
  const archives = await createBackupFolder();
  const dataDir = join(folder, 'data');
  const config = loadConfig({
    SKERRY_DATA_DIR: dataDir,
    SKERRY_LOG_LEVEL: 'silent',
    SKERRY_BACKUP_RECIPIENTS: archives.recipient,
    SKERRY_BACKUP_TO: join(archives.folder, 'to'),
    SKERRY_BACKUP_WAL_DAYS: '7',
  });
  const embedded = await startEmbedded({ dataDir, isArchiving: true });
  const opened = await openService(config, embedded.connection, { mayMigrate: true });
  const { service } = opened;
  const close = async () => {
    mock.restoreAll();
    await opened.close();
    await embedded.stop();
    await archives.remove();
    await rm(folder, { recursive: true, force: true });
  };
  const plan = service.backups?.wal ?? assert.fail('the log is not archived');
  const spool = (await openWalSpool({ dataDir })) ?? assert.fail('there is no spool');
  const real = performance.now.bind(performance);
  let passedMs = 0;
  mock.method(performance, 'now', () => real() + passedMs);
  const passMs = (ms: number) => {
    passedMs += ms;
  };
  return { service, plan, spool, dataDir, passMs, close };
}

function cutShort(store: ArchiveStore): ArchiveStore {
  return override(store, {
    read: async function* (id) {
      for await (const chunk of store.read(id)) {
        yield chunk.subarray(0, chunk.length / 2);
        return;
      }
    },
  });
}

function withoutNewest(store: ArchiveStore): ArchiveStore {
  return override(store, { list: async () => (await store.list()).sort().slice(0, -1) });
}

function override(store: ArchiveStore, changes: Partial<ArchiveStore>): ArchiveStore {
  return {
    label: store.label,
    write: store.write.bind(store),
    read: store.read.bind(store),
    list: store.list.bind(store),
    remove: store.remove.bind(store),
    tidy: store.tidy.bind(store),
    ...changes,
  };
}
