/**
 * Compiles packages/* and integrations/pulumi to their `dist` folders: `npm run build`. Runs after `npm ci`,
 * before tests and checks, and before a package is packed. The compiler writes only what is outdated, and one
 * build runs at a time: so programs that use a package that is up to date never read a file that is being
 * written. The files of an outdated package are written in place.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGES = fileURLToPath(new URL('../packages', import.meta.url));
const LOCKED = '--locked';

const compiler = findCompiler();
if (compiler === null) {
  process.stdout.write('Skipping packages/*: TypeScript is not installed. Run npm ci.\n');
} else if (process.argv.includes(LOCKED)) {
  process.exitCode = build(compiler);
} else {
  // The lock ends with its holder, however it ends.
  const held = [PACKAGES, process.execPath, import.meta.filename, LOCKED];
  process.exitCode = run('flock', held);
}

function findCompiler(): string | null {
  try {
    const name = `@typescript/typescript-linux-${process.arch}/package.json`;
    return join(dirname(createRequire(import.meta.url).resolve(name)), 'lib/tsc');
  } catch {
    return null;
  }
}

/** Returns the exit code. Packages with errors are written too, for tests in the middle of a change. */
function build(tsc: string): number {
  const code = run(tsc, ['--build', PACKAGES]);
  for (const name of ['sdk', 'cli', '../integrations/pulumi']) tidyOutput(join(PACKAGES, name));
  return code;
}

/** Returns the exit code: 1, with a message, if the program cannot be started. */
function run(program: string, args: readonly string[]): number {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (error) process.stderr.write(`Cannot run ${program}: ${error.message}\n`);
  return status ?? 1;
}

/**
 * Deletes the output of deleted sources, and rewrites `.ts` imports in declarations to `.js`: older compilers
 * do not resolve `.ts` there. The compiler does neither. After some errors it writes no output at all.
 */
function tidyOutput(folder: string): void {
  const dist = join(folder, 'dist');
  if (!existsSync(dist)) return;
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const [, name, extension] = /^(.*?)(\.d\.ts|\.js)$/.exec(file) ?? [];
    const path = join(dist, file);
    if (name === undefined) continue;
    if (!existsSync(join(folder, 'src', `${name}.ts`))) rmSync(path);
    else if (extension === '.d.ts') {
      const text = readFileSync(path, 'utf8');
      const fixed = text.replace(/(?<=['"]\.{1,2}\/[^'"]*)\.ts(?=['"])/g, '.js');
      if (fixed !== text) writeFileSync(path, fixed);
    }
  }
}
