/**
 * Runs the tests: `npm test`, `npm run test:full`, `npm test -- test/kernel test/store/ledger.test.ts`. It
 * provides the database that they need: an embedded server in a temporary folder, or databases on the server
 * of SKERRY_TEST_DATABASE_URL. It stops everything that it started, also on Ctrl-C.
 *
 * Test processes receive SKERRY_TEST_PG (connection settings for `pg`, as JSON), SKERRY_TEST_LEVEL,
 * SKERRY_TEST_RUNS (runs of each property), and SKERRY_TEST_ROTATION.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants as FILE, globSync, statSync } from 'node:fs';
import { access, chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { groupTestFiles } from './test-groups.ts';
import { hasLevels } from './test-imports.ts';
import { LEVEL_LIMITS, type TestLevel } from './test-levels.ts';
import { parseDatabaseUrl, type TestServer } from './test-server.ts';
import { bundleTypebox } from './test-typebox.ts';
import { startWatchdog, type TestWatchdog } from './test-watchdog.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RAM_DISK = '/dev/shm';
const MEMORY_NEEDED_BYTES = 4 * 1024 ** 3;
const STOP_GRACE_MS = 10_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    // In seconds; defaults depend on the level.
    'test-max': { type: 'string' },
    'file-max': { type: 'string' },
  },
});
const level: TestLevel = values.soak ? 'soak' : values.full ? 'full' : 'sample';
const limits = LEVEL_LIMITS[level];
/** Selects the items of long lists that this run tries. Failures print it, so that a run can be repeated. */
const rotation = process.env.SKERRY_TEST_ROTATION ?? String(Math.floor(Math.random() * 1_000_000));
const testMaxS = Number(values['test-max'] ?? limits.testMaxS);
const fileMaxS = Number(values['file-max'] ?? limits.fileMaxS);

/** The first signal that asked us to stop. */
let stopSignal: NodeJS.Signals | null = null;
let tests: ChildProcess | null = null;
let watchdog: TestWatchdog | null = null;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopSignal ??= signal;
    stopTests();
  });
}

process.exitCode = await main().catch((error: unknown) => {
  log(error instanceof Error ? error.message : String(error));
  return 1;
});

async function main(): Promise<number> {
  const files = positionals.length === 0 ? defaultTestFiles() : positionals.flatMap(findTestFiles);
  if (!buildPackages() && positionals.length === 0) return 1;
  const folder = await mkdtemp(join(await scratchParent(), 'skerry-test-'));
  // Every process loads the service. With a shared compile cache only the first one compiles its modules.
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled');
  const entries = positionals.length === 0 ? groupTestFiles(files, ROOT, folder) : files;
  const typebox = join(folder, 'typebox');
  if (bundleTypebox(typebox)) process.env.SKERRY_TEST_TYPEBOX = typebox;
  try {
    const url = process.env.SKERRY_TEST_DATABASE_URL;
    if (url) return await runTests(entries, parseDatabaseUrl(url));
    // When root runs the tests, the database runs as another user, who must be able to enter this folder.
    await chmod(folder, 0o755);
    const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
    try {
      return await runTests(entries, database.connection);
    } finally {
      await database.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Tests use the compiled packages/*. Named tests run even if a package does not compile, as in the middle of
 * a change.
 */
function buildPackages(): boolean {
  const built = spawnSync(process.execPath, [join(ROOT, 'scripts/build-packages.ts')], { stdio: 'inherit' });
  return built.status === 0;
}

/**
 * Prefers memory if there is room: every test creates its own database, which is about a thousand small
 * files.
 */
async function scratchParent(): Promise<string> {
  const { bavail, bsize } = await statfs(RAM_DISK).catch(() => ({ bavail: 0, bsize: 0 }));
  const writable = await access(RAM_DISK, FILE.W_OK).then(
    () => true,
    () => false,
  );
  return writable && bavail * bsize >= MEMORY_NEEDED_BYTES ? RAM_DISK : tmpdir();
}

/** `npm test` runs every file. The other levels run only files whose counts depend on the level. */
function defaultTestFiles(): string[] {
  const files = findTestFiles('test');
  return level === 'sample' ? files : files.filter((file) => hasLevels(file));
}

/** Returns the test files of a folder, or the one named file. */
function findTestFiles(start: string): string[] {
  const path = start === 'test' ? join(ROOT, start) : resolve(start);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile()) return [path];
  const files = found === undefined ? [] : globSync('**/*.test.ts', { cwd: path }).sort();
  if (files.length === 0) throw new Error(`${start}: no tests found`);
  return files.map((file) => join(path, file));
}

/** Resolves to the exit code. */
async function runTests(files: readonly string[], server: TestServer): Promise<number> {
  if (stopSignal !== null) return exitCodeFor(stopSignal);
  const options = ['--test', '--test-concurrency=2', '--test-reporter=./scripts/test-reporter.ts'];
  options.push('--test-force-exit', `--test-timeout=${testMaxS * 1_000}`);
  options.push('--import=./scripts/test-typebox.ts');
  const quiet = '--disable-warning=ExperimentalWarning';
  const paths = files.map((file) => relative(ROOT, file));
  // A separate process group, so that a signal reaches everything that the tests started.
  tests = spawn(process.execPath, [quiet, ...options, ...paths], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      SKERRY_TEST_PG: JSON.stringify(server),
      SKERRY_TEST_LEVEL: level,
      SKERRY_TEST_RUNS: process.env.SKERRY_TEST_RUNS ?? String(limits.propertyRuns),
      SKERRY_TEST_ROTATION: rotation,
    },
  });
  if (tests.pid !== undefined) watchdog = startWatchdog(tests.pid, fileMaxS * 1_000, log);
  const deadlineMs = limits.totalMaxS * 1_000;
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    log(`the tests did not finish within ${deadlineMs / 60_000} minutes; stopping them`);
    stopTests();
  }, deadlineMs);
  const [code] = (await once(tests, 'exit')) as [number | null];
  clearTimeout(deadline);
  watchdog?.stop();
  signalGroup('SIGKILL');
  if (stopSignal !== null) return exitCodeFor(stopSignal);
  return isLate ? 1 : (code ?? 1);
}

function stopTests(): void {
  if (tests === null) return;
  for (const line of watchdog?.describeRunning() ?? []) log(`still running: ${line}`);
  signalGroup('SIGTERM');
  setTimeout(() => signalGroup('SIGKILL'), STOP_GRACE_MS).unref();
}

function signalGroup(signal: NodeJS.Signals): void {
  try {
    if (tests?.pid !== undefined) process.kill(-tests.pid, signal);
  } catch {
    // The whole group has exited.
  }
}

function exitCodeFor(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}
