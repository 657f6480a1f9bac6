/** Builds of the packages, in a copy with one short source file for each package. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../support/scratch-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = 'scripts/build-packages.ts';
const COPIED = [
  SCRIPT,
  'package.json',
  'tsconfig.json',
  'packages/tsconfig.json',
  'packages/sdk/tsconfig.json',
  'packages/cli/tsconfig.json',
  'integrations/pulumi/tsconfig.json',
];
const OUTPUT = {
  'packages/sdk': ['.tsbuildinfo', 'index.d.ts', 'index.js', 'part.d.ts', 'part.js'],
  'packages/cli': ['.tsbuildinfo', 'index.js', 'part.js'],
  'integrations/pulumi': ['.tsbuildinfo', 'index.js', 'part.js'],
};

function copyPackages(test: TestContext): string {
  const folder = scratchFolder();
  test.after(() => rmSync(folder, { recursive: true }));
  for (const path of COPIED) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const name of Object.keys(OUTPUT)) {
    mkdirSync(join(folder, name, 'src'));
    writeFileSync(join(folder, name, 'src/part.ts'), 'export const PART = 1;\n');
    writeFileSync(join(folder, name, 'src/index.ts'), "export { PART } from './part.ts';\n");
  }
  return folder;
}

interface BuildResult {
  readonly code: number | string | null | undefined;
  readonly output: string;
}

async function build(folder: string, env: NodeJS.ProcessEnv = process.env): Promise<BuildResult> {
  return await new Promise((resolve) => {
    execFile(process.execPath, [join(folder, SCRIPT)], { env }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, output: stdout + stderr });
    });
  });
}

function assertBuilt(folder: string): void {
  for (const [name, files] of Object.entries(OUTPUT)) {
    const dist = join(folder, name, 'dist');
    assert.deepEqual(readdirSync(dist).sort(), files);
    assert.equal(readFileSync(join(dist, 'part.js'), 'utf8'), 'export const PART = 1;\n');
  }
  const declarations = readFileSync(join(folder, 'packages/sdk/dist/index.d.ts'), 'utf8');
  assert.match(declarations, /from ['"]\.\/part\.js['"]/);
}

describe('npm run build', () => {
  it('two builds at once both succeed', async (test) => {
    const folder = copyPackages(test);
    const done = { code: 0, output: '' };
    assert.deepEqual(await Promise.all([build(folder), build(folder)]), [done, done]);
    assertBuilt(folder);
  });

  it('a build deletes obsolete files', async (test) => {
    const folder = copyPackages(test);
    const dist = join(folder, 'packages/sdk/dist');
    mkdirSync(dist);
    for (const file of ['gone.js', 'gone.d.ts']) {
      writeFileSync(join(dist, file), 'export const GONE = 1;\n');
    }
    assert.deepEqual(await build(folder), { code: 0, output: '' });
    assertBuilt(folder);
  });

  it('a build without the program flock tells what is missing', async (test) => {
    const { code, output } = await build(copyPackages(test), { PATH: '' });
    assert.deepEqual([code, output], [1, 'Cannot run flock: spawnSync flock ENOENT\n']);
  });

  it('a build that writes no output shows only what the compiler reports', async (test) => {
    const folder = copyPackages(test);
    rmSync(join(folder, 'packages/tsconfig.json'));
    const { code, output } = await build(folder);
    assert.notEqual(code, 0);
    assert.match(output, /error TS\d+/);
    assert.doesNotMatch(output, /ENOENT/);
    assert.ok(!existsSync(join(folder, 'packages/sdk/dist')));
  });
});
