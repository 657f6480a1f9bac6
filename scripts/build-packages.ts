/**
 * Compiles packages/* to their `dist` folders: `npm run build`. Runs after `npm ci`, before tests and checks,
 * and before a package is packed. Replaces only changed files, each atomically, so running programs never
 * read a partial file and parallel builds are safe.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles, replaceFolder } from './replace-folder.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The CLI compiles against the SDK's compiled types, so the SDK comes first. */
const PACKAGES = ['sdk', 'cli'];

const compiler = findCompiler();
if (compiler === null) {
  process.stdout.write('Skipping packages/*: TypeScript is not installed. Run npm ci.\n');
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
      process.stderr.write(`${relative(ROOT, folder)} failed to compile:\n${stdout}${stderr}`);
      process.exitCode = 1;
    }
    fixDeclarationImports(outDir);
    replaceFolder(outDir, join(folder, 'dist'));
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** Rewrites `.ts` imports in declarations to `.js`: older compilers do not resolve `.ts` there. */
function fixDeclarationImports(outDir: string): void {
  for (const file of listFiles(outDir).filter((name) => name.endsWith('.d.ts'))) {
    const path = join(outDir, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/(?<=['"]\.{1,2}\/[^'"]*)\.ts(?=['"])/g, '.js'));
  }
}
