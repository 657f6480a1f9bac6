/**
 * Runs the tests of the SDK for version 1.6 of the API against the service of this checkout, because clients
 * from before a change keep working: `node scripts/test-previous-client.ts`. Needs the history of Git.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The last commit with the contract of version 1.6. */
const PREVIOUS = '135f062da10cba47b26959a00a9eb268d952a21d';
/** The document, the client generated from it, its build, and its tests. All else is of this checkout. */
const CLIENT = ['openapi', 'packages', 'scripts/build-packages.ts', 'test/sdk'];

const folder = mkdtempSync(join(tmpdir(), 'skerry-previous-'));
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'inherit' });
const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' });

try {
  execFileSync('git', ['clone', '--quiet', '--no-checkout', '--shared', ROOT, folder], { stdio: 'inherit' });
  git('checkout', '--quiet', 'HEAD');
  rmSync(join(folder, 'packages'), { recursive: true });
  rmSync(join(folder, 'test/sdk'), { recursive: true });
  git('checkout', '--quiet', PREVIOUS, '--', ...CLIENT);
  linkModules();
  const built = node('scripts/build-packages.ts');
  const tested = built.status === 0 ? node('scripts/test.ts', '--full', 'test/sdk') : built;
  process.exitCode = tested.status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Shares the installed packages, except for our own: those are of the previous client. */
function linkModules(): void {
  const [from, to] = [join(ROOT, 'node_modules'), join(folder, 'node_modules')];
  mkdirSync(join(to, '@skerry'), { recursive: true });
  for (const name of readdirSync(from).filter((entry) => entry !== '@skerry'))
    symlinkSync(join(from, name), join(to, name));
  for (const name of ['sdk', 'cli']) symlinkSync(join(folder, 'packages', name), join(to, '@skerry', name));
}
