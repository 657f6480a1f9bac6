/** How an operator packs the SDK and the command line, on a machine whose own Node is too old or that has none. */
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

test('the guide puts the Node of the project first, and builds by what is there', () => {
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
    order.toSorted((one, other) => one - other),
  );
});

test('a command line that is not compiled says so in one line', () => {
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
