/** The guide's way to pack the SDK and the CLI works on a machine without Node, or with an older version. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { codeBlocks, readGuide } from './docs-content.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECTION = 'Packages for customers';
const SHELL_LINES = codeBlocks(readGuide('operators/configure'), SECTION).flatMap(({ text }) =>
  text.split('\n'),
);

test('the packaging guide puts the project’s Node first and builds before it packs', () => {
  const path = SHELL_LINES.find((line) => line.startsWith('export PATH=')) ?? assert.fail();
  const { stdout } = spawnSync('sh', ['-c', `${path}\nnode --version`], {
    cwd: ROOT,
    env: { PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
  });
  assert.match(stdout, /^v24\./);
  const [, script = ''] = /^node (\S+)$/m.exec(SHELL_LINES.join('\n')) ?? [];
  assert.ok(existsSync(join(ROOT, script)), script);
  const order = ['export PATH', 'node scripts', 'npm pack'].map((word) =>
    SHELL_LINES.findIndex((line) => line.startsWith(word)),
  );
  assert.deepEqual(
    order,
    order.toSorted((a, b) => a - b),
  );
});

test('a CLI that is not compiled prints a one-line error', () => {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-not-built-'));
  try {
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    copyFileSync(join(ROOT, 'packages/cli/bin/skerry.js'), join(folder, 'bin/skerry.js'));
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'bin/skerry.js')], {
      encoding: 'utf8',
    });
    assert.equal(status, 1);
    assert.match(stderr, /^skerry: the CLI is not built; run `npm run build` [^\n]+\n$/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
