/** The checks of a base before anything of it is placed. */
import assert from 'node:assert/strict';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Entry } from '../../../src/store/dump/tar.ts';
import type { BaseHeader } from '../../../src/store/embedded/base.ts';
import { MAJOR_VERSION } from '../../../src/store/embedded/binaries.ts';
import { placeBase } from '../../../src/store/embedded/place.ts';

const HEADER: BaseHeader = { format: 1, release: '1.0.0', postgres: MAJOR_VERSION };

/** Returns the error of a restore of a base with this header, and fails if it placed anything. */
async function refusal(
  t: TestContext,
  header: BaseHeader,
  checkHeader: Parameters<typeof placeBase>[2] = () => undefined,
): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'skerry-place-'));
  t.after(() => rm(dataDir, { recursive: true }));
  let read = 0;
  const entries = async function* (): AsyncGenerator<Entry> {
    read += 1;
    yield { name: 'base.json', bytes: Buffer.from(JSON.stringify(header)) };
    read += 1;
  };
  const error = await placeBase(dataDir, entries(), checkHeader).then(
    () => assert.fail('the base was placed'),
    (caught: Error) => caught,
  );
  assert.equal(read, 1);
  for (const name of ['restoring', 'cluster.draft'])
    await assert.rejects(access(join(dataDir, 'pg', name)), { code: 'ENOENT' });
  return error.message;
}

describe('the restore of a base', () => {
  it('refuses a database that is larger than the free space', async (t) => {
    const message = await refusal(t, { ...HEADER, database_bytes: 1024 ** 5 });
    assert.match(message, /pg needs 1048577 GiB of free space: free some, or restore elsewhere$/);
  });

  it('refuses what its caller refuses, such as a database with another service key', async (t) => {
    const message = await refusal(t, { ...HEADER, key_check: 'k1.2.x' }, ({ key_check: check }) => {
      throw new Error(`not the key of ${check}`);
    });
    assert.equal(message, 'not the key of k1.2.x');
  });

  it('refuses the files of another major version of PostgreSQL', async (t) => {
    const message = await refusal(t, { ...HEADER, postgres: '12', database_bytes: 0 });
    assert.match(message, /^PostgreSQL 12 made this base backup/);
  });
});
