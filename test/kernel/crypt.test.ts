import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { verify } from 'unixcrypt';
import { CryptHasher } from '../../src/kernel/crypt.ts';
import { Failure } from '../../src/kernel/fail.ts';

const CRYPT = new URL('../../src/kernel/crypt.ts', import.meta.url).href;

/** A thread that dies of its first message unless the file that the message names is there, which it makes. */
const DIES_ONCE = script(`
  if (!fs.existsSync(password)) { fs.writeFileSync(password, ''); process.exit(1); }
  parentPort.postMessage('hashed');`);
/** A thread that dies of the password "poison". */
const DIES_OF_POISON = script(`
  if (password === 'poison') throw new Error('poison');
  parentPort.postMessage('hashed');`);

function script(onMessage: string): URL {
  const source = `import fs from 'node:fs'; import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ password }) => { ${onMessage} });`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

describe('a root password', () => {
  const hasher = new CryptHasher({ queueMax: 64 });

  it('is hashed as every Linux does it', async () => {
    assert.equal(
      await hasher.hash('Hello world!', 'saltstring'),
      '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
    );
  });

  it('has a salt of its own each time', async () => {
    const [one, other] = await Promise.all([hasher.hash('same password'), hasher.hash('same password')]);
    assert.notEqual(one, other);
    for (const hash of [one, other]) {
      assert.match(hash, /^\$6\$[a-z2-7]{16}\$[./A-Za-z0-9]{86}$/);
      assert.ok(verify('same password', hash));
    }
  });
});

describe('many root passwords at once', () => {
  it('leave the event loop free', async () => {
    const hasher = new CryptHasher({ queueMax: 64 });
    await hasher.hash('the thread has begun');
    let left = 40;
    const hashes = Array.from({ length: left }, (_, n) =>
      hasher.hash(`root password ${n}`).finally(() => {
        left -= 1;
      }),
    );
    let turns = 0;
    for (; left > 0; turns++) await turn();
    await Promise.all(hashes);
    // On the loop itself there would be no more than one turn for each.
    assert.ok(turns > 400, `${turns} turns`);
  });

  it('wait in a queue that is bounded: one too many is told to come back', async () => {
    const hasher = new CryptHasher({ queueMax: 3 });
    const all = Array.from({ length: 4 }, () => hasher.hash('a long password'));
    const refused: unknown = await hasher.hash('a long password').catch((error: unknown) => error);
    assert.ok(refused instanceof Failure);
    assert.deepEqual([refused.code, refused.extras], ['maintenance', { retry_after_s: 5 }]);
    assert.equal(new Set(await Promise.all(all)).size, 4);
    assert.ok(await hasher.hash('a long password'));
  });
});

describe('the thread that hashes', () => {
  it('is started again when it dies, and what it was at is not lost', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skerry-crypt-'));
    try {
      const hasher = new CryptHasher({ queueMax: 8, script: DIES_ONCE });
      const mark = join(folder, 'died');
      assert.deepEqual(await Promise.all([hasher.hash(mark), hasher.hash(mark)]), ['hashed', 'hashed']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('that dies twice of one password fails that one only, and says nothing of it', async () => {
    const hasher = new CryptHasher({ queueMax: 8, script: DIES_OF_POISON });
    const [before, poisoned, after] = await Promise.allSettled(
      ['one', 'poison', 'other'].map((password) => hasher.hash(password)),
    );
    assert.deepEqual(
      [before?.status, poisoned?.status, after?.status],
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.doesNotMatch(String(poisoned?.status === 'rejected' && poisoned.reason), /poison/);
  });

  it('is there for whoever waits, and keeps no process from ending', () => {
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
