import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openDatabase } from '../../src/store/db.ts';
import { migrationFiles } from '../../src/store/migrate.ts';
import { createScratchDatabase } from '../support/database.ts';
import { migrateBefore } from '../support/earlier-schema.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { killLeftovers, runSkerryd, startSkerryd } from '../support/skerryd-process.ts';
import { databaseUrl } from './live-world.ts';

describe('the progress of migrations', FULL_ONLY, () => {
  const [one = '', two = ''] = migrationFiles()
    .slice(-2)
    .map(({ name }) => name);
  const PROGRESS = new RegExp(
    `^migration ${one}: 1 of 2, running\nmigration ${one}: took \\d+\\.\\d s\n` +
      `migration ${two}: 2 of 2, running\nmigration ${two}: took \\d+\\.\\d s$`,
    'm',
  );
  let dataDir: string;
  const drops: (() => Promise<void>)[] = [];
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'skerry-migrate-'));
  });
  after(async () => {
    killLeftovers();
    for (const drop of drops) await drop();
    await rm(dataDir, { recursive: true });
  });

  /** Returns the settings of a sandbox whose database lacks the last two migrations. */
  async function earlierVersion(): Promise<Record<string, string>> {
    const scratch = await createScratchDatabase({ empty: true });
    drops.push(scratch.drop);
    const db = openDatabase(scratch.connection, { poolSize: 2 });
    await migrateBefore(db, one);
    await db.close();
    return { DATABASE_URL: databaseUrl(scratch), SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'warn' };
  }

  it('skerryd migrate names each migration when it runs, and says how long it took', async () => {
    const { code, stdout, stderr } = await runSkerryd(['migrate'], await earlierVersion());
    assert.deepEqual([code, stdout], [0, `migrated: ${one}, ${two}\n`], stderr);
    assert.match(stderr, PROGRESS);
  });

  it('a start that migrates a sandbox shows the same progress', async () => {
    const serving = await startSkerryd(await earlierVersion());
    const { code, stderr } = await serving.stop();
    assert.equal(code, 0);
    assert.match(stderr, PROGRESS);
  });
});
