/**
 * Compiles packages/* to their `dist`: `npm run build`. It runs after `npm ci`, before tests and checks, and before a package is
 * packed. A file is replaced as a whole and only when it changed, so that programs that run meanwhile read no half of one, and
 * several builds at once do no harm.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles, replaceFolder } from './replace-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The command line is written against the types that the SDK was compiled to. */
const PACKAGES = ['sdk', 'cli'];

const compiler = findCompiler();
if (compiler === null) {
  process.stdout.write('packages/* are not compiled: there is no TypeScript here (npm ci brings it).\n');
} else {
  for (const name of PACKAGES) build(compiler, join(ROOT, 'packages', name));
}

function findCompiler(): string | null {
  try {
    const name = `@typescript/typescript-linux-${process.arch}/package.json`;
    return join(dirname(createRequire(import.meta.url).resolve(name)), 'lib/tsc');
  } catch {
    return null;
  }
}

function build(tsc: string, folder: string): void {
  const outDir = mkdtempSync(join(folder, '.dist-'));
  try {
    const { status, stdout, stderr } = spawnSync(tsc, ['--project', folder, '--outDir', outDir], {
      encoding: 'utf8',
    });
    if (status !== 0) {
      process.stderr.write(`${relative(ROOT, folder)} does not compile:\n${stdout}${stderr}`);
      process.exitCode = 1;
    }
    fixDeclarationImports(outDir);
    replaceFolder(outDir, join(folder, 'dist'));
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** The compiler writes imports as they were into declarations: older ones than ours do not follow `.ts` there. */
function fixDeclarationImports(outDir: string): void {
  for (const file of listFiles(outDir).filter((name) => name.endsWith('.d.ts'))) {
    const path = join(outDir, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(?<=['"]\.{1,2}\/[^'"]*)\.ts(?=['"])/g, '.js'));
  }
}
