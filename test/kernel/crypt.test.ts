import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { verify } from 'unixcrypt';
import { CryptHasher } from '../../src/kernel/crypt/crypt.ts';
import { Failure } from '../../src/kernel/fail.ts';

const CRYPT = new URL('../../src/kernel/crypt/crypt.ts', import.meta.url).href;

/** A worker that exits on its first task: the password names a file that marks the exit. */
const EXITS_ONCE = `
  if (!fs.existsSync(password)) { fs.writeFileSync(password, ''); process.exit(1); }
  return 'hashed';`;
/** Workers that fail on the password "poison": the task, and the whole thread. */
const FAILS_ON_POISON = `
  if (password === 'poison') throw new Error('poison');
  return 'hashed';`;
const CRASHES_ON_POISON = `
  if (password === 'poison') return new Promise(() => queueMicrotask(() => { throw new Error('poison'); }));
  return 'hashed';`;

/** Runs `use` with a hasher whose worker thread has this body, and a folder. */
async function withWorker(
  body: string,
  use: (hasher: CryptHasher, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-crypt-'));
  try {
    const script = join(folder, 'worker.mjs');
    await writeFile(script, `import fs from 'node:fs'; export default ({ password }) => { ${body} };`);
    await use(new CryptHasher({ queueMax: 8, script: pathToFileURL(script) }), folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('a root password', () => {
  const hasher = new CryptHasher({ queueMax: 64 });

  it('a root password is hashed with the standard SHA-512 crypt', async () => {
    assert.equal(
      await hasher.hash('Hello world!', 'saltstring'),
      '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
    );
  });

  it('each hash of a root password has a new salt', async () => {
    const [one, other] = await Promise.all([hasher.hash('same password'), hasher.hash('same password')]);
    assert.notEqual(one, other);
    for (const hash of [one, other]) {
      assert.match(hash, /^\$6\$[a-z2-7]{16}\$[./A-Za-z0-9]{86}$/);
      assert.ok(verify('same password', hash));
    }
  });
});

describe('many root passwords at once', () => {
  it('hashing many root passwords leaves the event loop free', async () => {
    const hasher = new CryptHasher({ queueMax: 64 });
    await hasher.hash('starts the thread');
    let remaining = 40;
    const hashes = Array.from({ length: remaining }, (_, n) =>
      hasher.hash(`root password ${n}`).finally(() => {
        remaining -= 1;
      }),
    );
    let turns = 0;
    for (; remaining > 0; turns++) await turn();
    await Promise.all(hashes);
    // On the event loop itself, there would be at most one turn per hash.
    assert.ok(turns > 400, `${turns} turns`);
  });

  it('a full queue of root passwords is refused with a retry delay', async () => {
    const hasher = new CryptHasher({ queueMax: 3 });
    const all = Array.from({ length: 4 }, () => hasher.hash('a long password'));
    const refused: unknown = await hasher.hash('a long password').catch((error: unknown) => error);
    assert.ok(refused instanceof Failure);
    assert.deepEqual([refused.code, refused.extras], ['maintenance', { retry_after_s: 5 }]);
    assert.equal(new Set(await Promise.all(all)).size, 4);
    assert.ok(await hasher.hash('a long password'));
  });
});

describe('the hashing thread', () => {
  it('a hashing thread that exits is replaced, and its current job is retried', async () => {
    await withWorker(EXITS_ONCE, async (hasher, folder) => {
      const marker = join(folder, 'exited');
      assert.deepEqual(await Promise.all([hasher.hash(marker), hasher.hash(marker)]), ['hashed', 'hashed']);
    });
  });

  it('a password that crashes the thread twice fails alone, and the error does not contain it', async () => {
    for (const body of [FAILS_ON_POISON, CRASHES_ON_POISON]) {
      await withWorker(body, async (hasher) => {
        const [before, poisoned, after] = await Promise.allSettled(
          ['one', 'poison', 'other'].map((password) => hasher.hash(password)),
        );
        assert.deepEqual(
          [before?.status, poisoned?.status, after?.status],
          ['fulfilled', 'rejected', 'fulfilled'],
        );
        assert.doesNotMatch(inspect(poisoned?.status === 'rejected' && poisoned.reason), /poison(?!ed)/);
      });
    }
  });

  it('the hashing thread finishes pending hashes and does not keep the process alive', () => {
    const source = `import { rootPasswordHasher } from ${JSON.stringify(CRYPT)};
      process.stdout.write(await rootPasswordHasher.hash('Hello world!', 'saltstring'));`;
    const run = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    assert.equal(run.status, 0, run.stderr);
    assert.match(run.stdout, /^\$6\$saltstring\$svn8UoSV/);
    assert.equal(run.stderr, '');
  });
});
