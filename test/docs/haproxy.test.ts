/** The proxy's configuration in the documentation is valid. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram, skipUnlessInstalled } from '../support/installed-programs.ts';

const program = findProgram(['haproxy', '../sbin/haproxy']);
const PAGE = fileURLToPath(new URL('../../docs/operators/postgresql.md', import.meta.url));

test('HAProxy accepts the configuration', { skip: skipUnlessInstalled(program, 'no haproxy') }, async () => {
  const [, config = ''] = /```text\n(defaults\n[^`]+)```/.exec(await readFile(PAGE, 'utf8')) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'skerry-haproxy-'));
  try {
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, config);
    const { stdout, stderr } = await promisify(execFile)(program ?? 'haproxy', ['-c', '-f', file]);
    assert.match(stdout + stderr, /Configuration file is valid/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
