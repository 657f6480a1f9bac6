/** Each base is restored to verify it, with what the archive has of the log. */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openService } from '../../src/compose/service.ts';
import { loadConfig } from '../../src/config.ts';
import type { Service } from '../../src/domain/context.ts';
import { walFindings } from '../../src/domain/health/backups.ts';
import { openArchiving } from '../../src/domain/upkeep/wal/archive.ts';
import type { WalPlan } from '../../src/domain/upkeep/wal/plan.ts';
import { formatSessionTime } from '../../src/kernel/time.ts';
import type { ArchiveStore, WalArchive } from '../../src/ports/archives.ts';
import { openWalSpool } from '../../src/store/embedded/archiving.ts';
import { startEmbedded } from '../../src/store/embedded/index.ts';
import { createBackupFolder } from '../support/backups.ts';
import { FULL_ONLY } from '../support/runs.ts';

describe('a base', FULL_ONLY, () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => {
    world = await openWorld();
  });
  after(() => world?.close());

  it('is restored to verify it', async () => {
    const { service, plan, dataDir } = world;
    await storeBase(service, plan);
    const startedAt = (await world.spool.newestBase())?.startedAt ?? assert.fail('there is no base');
    assert.deepEqual(await world.spool.readProof(), { provedAt: startedAt, failure: null });
    const time = `${formatSessionTime(startedAt)} UTC`;
    const message = `the write-ahead log is archived; the newest verified base is of ${time}`;
    assert.deepEqual(await walFindings(service), [{ subject: 'point-in-time', level: 'ok', message }]);
    const left = (await readdir(dataDir)).filter((name) => name.startsWith('base-check-'));
    assert.deepEqual(left, []);
  });

  it('that is damaged or lacks its log fails, and the status says so', async () => {
    const { service, plan, spool } = world;
    const proved = (await spool.readProof())?.provedAt ?? assert.fail('no base was verified');
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
      await storeBase(service, { ...plan, open: (cluster) => damage(plan.open(cluster)) });
      const proof = await spool.readProof();
      assert.match(proof?.failure ?? '', reason);
      assert.deepEqual(proof?.provedAt, proved);
      const [finding] = await walFindings(service);
      assert.equal(finding?.level, 'fail');
      assert.equal(finding?.message, `the newest base could not be restored: ${proof?.failure}`);
    }
  });
});

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
    await opened.close();
    await embedded.stop();
    await archives.remove();
    await rm(folder, { recursive: true, force: true });
  };
  const plan = service.backups?.wal ?? assert.fail('the log is not archived');
  const spool = (await openWalSpool({ dataDir })) ?? assert.fail('there is no spool');
  return { service, plan, spool, dataDir, close };
}

async function storeBase(service: Service, plan: WalPlan): Promise<void> {
  await openArchiving(service, plan)(new AbortController().signal);
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
    ...changes,
  };
}
