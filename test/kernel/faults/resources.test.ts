import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { loadOnce } from '../../../src/kernel/faults/load-once.ts';
import { NotLoaded } from '../../../src/kernel/faults/resources.ts';

const ROOT = new URL('../../..', import.meta.url);

/** Hashes a password while no file can be opened, and again once one can. */
const SCRIPT = `
  import { closeSync, openSync } from 'node:fs';
  import { isUnavailable } from './src/store/connections/errors.ts';
  import { rootPasswordHasher } from './src/kernel/crypt/crypt.ts';
  const open = [];
  try {
    for (;;) open.push(openSync('/dev/null'));
  } catch {}
  const fault = await rootPasswordHasher.hash('a password').catch(isUnavailable);
  for (const file of open) closeSync(file);
  const hash = await rootPasswordHasher.hash('a password');
  console.log(JSON.stringify({ fault, hash }));
`;

test('a root password cannot be hashed without file descriptors, and can as soon as there are some', () => {
  const command =
    'ulimit -n 128; exec "$0" --input-type=module --disable-warning=ExperimentalWarning -e "$1"';
  const output = execFileSync('sh', ['-c', command, process.execPath, SCRIPT], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const { fault, hash } = JSON.parse(output) as { fault: unknown; hash: string };
  assert.equal(fault, true);
  assert.match(hash, /^\$6\$/);
});

test('a part that could not be loaded is loaded with the next call, and once only', async () => {
  let attempts = 0;
  const load = loadOnce(async () => {
    attempts += 1;
    if (attempts === 1) throw new Error('no file descriptors');
    return attempts;
  });
  await assert.rejects(Promise.all([load(), load()]), NotLoaded);
  assert.deepEqual(await Promise.all([load(), load()]), [2, 2]);
  assert.equal(await load(), 2);
});
