/**
 * Runs the tests: `npm test` runs a part of them, which rotates, `npm run test:all` runs every file, and
 * `npm run test:full` the slow ones. `npm test -- test/kernel test/store/ledger.test.ts` runs what it names.
 * Node's test runner does the work. This script adds the database that the tests need: an embedded server in
 * a temporary folder, or databases on the server of SKERRY_TEST_DATABASE_URL.
 *
 * Test processes receive SKERRY_TEST_PG (connection settings for `pg`, as JSON), SKERRY_TEST_LEVEL,
 * SKERRY_TEST_RUNS (runs of each property), and SKERRY_TEST_ROTATION.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withTestDatabase } from './test-database.ts';
import { canRepeat, findTestFiles, groupTestFiles, selectTestFiles } from './test-files.ts';
import { LEVEL_LIMITS, type TestLevel } from './test-levels.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STOP_GRACE_MS = 10_000;
const MAX_REPEATED_FILES = 3;
const FAILED_FILES = 'failed.json';
/** Selects the items of long lists, and the slow files, that this run tries. Set it to repeat a run. */
const ROTATION = process.env.SKERRY_TEST_ROTATION ?? String(Math.floor(Math.random() * 1_000_000));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    'except-full': { type: 'boolean', default: false },
    /** Runs only tests whose name contains a match of this expression. */
    name: { type: 'string', multiple: true, default: [] },
  },
});
const level: TestLevel = values.soak ? 'soak' : values.full ? 'full' : 'sample';
const limits = LEVEL_LIMITS[level];

let tests: ChildProcess | null = null;
/** The first signal that asked us to stop. */
let stopSignal: NodeJS.Signals | null = null;
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
  const isWhole = positionals.length === 0;
  const files = isWhole ? selectFiles() : positionals.flatMap(findTestFiles);
  // Named tests run even if a package does not compile, as in the middle of a change.
  const built = spawnSync(process.execPath, [join(ROOT, 'scripts/build-packages.ts')], { stdio: 'inherit' });
  if (built.status !== 0 && isWhole) return 1;
  return await withTestDatabase(log, async (server, folder) => {
    // A file that is named runs alone, so that its output is easy to find.
    const entries = files.length > positionals.length ? groupTestFiles(files, folder) : files;
    return await (isWhole ? runAndRepeat : runTests)(entries, folder, server);
  });
}

/** Files that wait for their turn are counted, so that a run never looks like more than it was. */
function selectFiles(): readonly string[] {
  const { 'except-full': exceptFull } = values;
  // A name may be in any file.
  const all = values.all || values.name.length > 0;
  const { selected, waiting } = selectTestFiles({ level, all, exceptFull, rotation: Number(ROTATION) });
  const total = selected.length + waiting.length;
  if (waiting.length > 0)
    log(`rotation ${ROTATION}: ${waiting.length} of ${total} files wait for their turn`);
  return selected;
}

/**
 * Runs the tests, and repeats a few failed files, because a stalled machine or a program that is not ours can
 * fail a test. The repetition is alone on the machine and tries the same items. Resolves to the exit code.
 */
async function runAndRepeat(files: readonly string[], folder: string, server: object): Promise<number> {
  const code = await runTests(files, folder, server);
  if (code === 0 || stopSignal !== null) return code;
  const failed = JSON.parse(await readFile(join(folder, FAILED_FILES), 'utf8')) as string[];
  const mayRepeat = failed.length <= MAX_REPEATED_FILES && failed.every(canRepeat);
  if (failed.length === 0 || !mayRepeat) return code;
  const names = failed.map((file) => relative(ROOT, file)).join(', ');
  log(`\nrepeating alone: ${names}`);
  const repeated = await runTests(failed, folder, server, 1);
  log(repeated === 0 ? `passed when repeated: ${names}` : `failed twice: ${names}`);
  return repeated;
}

/** Resolves to the exit code. */
async function runTests(
  files: readonly string[],
  folder: string,
  server: object,
  processes = limits.processes,
): Promise<number> {
  const options = ['--test', `--test-concurrency=${processes}`];
  options.push(...values.name.map((name) => `--test-name-pattern=${name}`));
  options.push('--test-reporter=./scripts/test-reporter.ts');
  options.push('--test-force-exit', `--test-timeout=${limits.testMaxS * 1_000}`);
  options.push('--import=./scripts/test-deadline.ts', '--disable-warning=ExperimentalWarning');
  // A separate process group, so that a signal reaches everything that the tests started.
  tests = spawn(process.execPath, [...options, ...files.map((file) => relative(ROOT, file))], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      // Every process loads the service. Only the first one compiles its modules.
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      SKERRY_TEST_PG: JSON.stringify(server),
      SKERRY_TEST_LEVEL: level,
      SKERRY_TEST_PROCESS_MAX_S: String(limits.processMaxS),
      SKERRY_TEST_RUNS: String(limits.propertyRuns),
      SKERRY_TEST_ROTATION: ROTATION,
      SKERRY_TEST_FAILED: join(folder, FAILED_FILES),
      ...process.env,
    },
  });
  if (stopSignal !== null) stopTests();
  const deadline = setTimeout(() => {
    log(`the tests did not finish within ${limits.totalMaxS / 60} minutes; stopping them`);
    stopSignal ??= 'SIGTERM';
    stopTests();
  }, limits.totalMaxS * 1_000);
  const [code] = (await once(tests, 'exit')) as [number | null];
  clearTimeout(deadline);
  signalGroup('SIGKILL'); // What a test left running.
  return stopSignal === null ? (code ?? 1) : 128 + constants.signals[stopSignal];
}

/** The runner reports what was running before it exits. */
function stopTests(): void {
  signalGroup('SIGINT');
  setTimeout(() => signalGroup('SIGKILL'), STOP_GRACE_MS).unref();
}

function signalGroup(signal: NodeJS.Signals): void {
  try {
    if (tests?.pid !== undefined) process.kill(-tests.pid, signal);
  } catch {
    // The whole group has exited.
  }
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}
