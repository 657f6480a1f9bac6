/** Selects the test files of a run, and groups them into processes. */
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { TestLevel } from './test-levels.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TEST = join(ROOT, 'test');
/** A file whose counts depend on the level imports this one, directly or through a helper. */
const RUNS = join(TEST, 'support/runs.ts');

/** Folders whose files start programs, fill a machine, or read the whole project: each file runs alone. */
const SINGLE_FOLDERS = new RegExp(
  '^test/(?:bench|house|integrations|interleave|lifecycle|process|real|survive)/|' +
    '^test/drivers/(?:chain/(?:evm|monero|utxo)|compute/qemu)/',
);
/** A file that starts programs or changes its process runs alone. */
const RUNS_ALONE = new RegExp(
  'child_process|worker_threads|' +
    'support\\/(?:process|chromium|firefox|installed|pdns|pgbouncer|patroni|radosgw)|' +
    'process\\.(?:exit|chdir|on)\\b|globalThis|mock\\.timers',
);
const FILES_PER_PROCESS = 12;

/**
 * Slow files by subject: each run of `test:full` takes one in so many. They take turns from run to run, and
 * `test:soak` takes all. A folder is in one row at most.
 */
const TURNS: readonly { readonly files: RegExp; readonly oneIn: number }[] = [
  { files: /^test\/drivers\/compute\/(?:qemu|composed)\/|^test\/drivers\/compute\/host\/real/, oneIn: 12 },
  { files: /^test\/drivers\/chain\/(?:evm|monero|utxo)\//, oneIn: 9 },
  { files: /^test\/process\//, oneIn: 12 },
  { files: /^test\/real\//, oneIn: 12 },
  { files: /^test\/integrations\//, oneIn: 9 },
  // A minute of `survive` is in every run.
  { files: /^test\/(?:interleave|mutations|release)\//, oneIn: 9 },
  { files: /^test\/panel\//, oneIn: 9 },
  {
    files: /^test\/(?:cli\/|docs\/(?:cli|sdk|sweeping)|examples\/|sdk\/packed)/,
    oneIn: 9,
  },
  { files: /^test\/(?:lifecycle|http\/admin|domain\/snapshots|operator|store\/embedded)\//, oneIn: 6 },
  {
    files: /^test\/(?:domain\/(?!snapshots)|http\/v1\/|sdk\/(?!packed)|store\/(?!embedded)|workers\/)/,
    oneIn: 5,
  },
];

/** `npm test` runs one file in so many. They take turns from run to run. */
const QUICK_ONE_IN = 15;

export interface Selection {
  readonly level: TestLevel;
  /** Every file at the level `sample`, not only those whose turn it is. */
  readonly all: boolean;
  /** Leaves out the files that `test:full` runs. */
  readonly exceptFull: boolean;
  readonly rotation: number;
}

/**
 * Returns the files of a run, and those that wait for their turn. The house rules are in none: `npm run
 * check` runs them. The levels `full` and `soak` run only the files whose counts depend on the level.
 */
export function selectTestFiles({ level, all, exceptFull, rotation }: Selection): {
  readonly selected: readonly string[];
  readonly waiting: readonly string[];
} {
  const files = findTestFiles(TEST).filter((file) => !file.startsWith(join(TEST, 'house')));
  const isOfLevel = (file: string) => dependsOnLevel(file, new Set()) !== exceptFull;
  const ofLevel = level === 'sample' && !exceptFull ? files : files.filter(isOfLevel);
  let selected = ofLevel;
  if (level === 'full') selected = takeTurns(ofLevel, rotation);
  if (level === 'sample' && !all)
    selected = ofLevel.filter((_, index) => index % QUICK_ONE_IN === rotation % QUICK_ONE_IN);
  return { selected, waiting: ofLevel.filter((file) => !selected.includes(file)) };
}

/** Returns the files without the slow ones whose turn is in another run of `test:full`. */
function takeTurns(files: readonly string[], rotation: number): string[] {
  const waiting = TURNS.flatMap(({ files: slow, oneIn }) =>
    files
      .filter((file) => slow.test(relative(ROOT, file)))
      .filter((_, index) => index % oneIn !== rotation % oneIn),
  );
  return files.filter((file) => !waiting.includes(file));
}

/** Returns the test files of a folder, or the one named file. */
export function findTestFiles(start: string): string[] {
  const path = resolve(start);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile()) return [path];
  const files = found === undefined ? [] : globSync('**/*.test.ts', { cwd: path }).sort();
  if (files.length === 0) throw new Error(`${start}: no tests found`);
  return files.map((file) => join(path, file));
}

/**
 * Returns the files for Node's test runner: single files, and generated files in `folder` that import one
 * group each. Starting a process and loading the service takes longer than most files need for their tests.
 */
export function groupTestFiles(files: readonly string[], folder: string): string[] {
  const shared = files.filter(canShare);
  const single = files.filter((file) => !shared.includes(file));
  const groups = Array.from({ length: Math.ceil(shared.length / FILES_PER_PROCESS) }, (_, index) =>
    shared.slice(index * FILES_PER_PROCESS, (index + 1) * FILES_PER_PROCESS),
  );
  return [...single, ...groups.map((group, index) => writeGroup(group, index, folder))];
}

function canShare(file: string): boolean {
  return !SINGLE_FOLDERS.test(relative(ROOT, file)) && !RUNS_ALONE.test(readFileSync(file, 'utf8'));
}

/**
 * Returns whether a repetition of the file tries the same things. It does not if its inputs are random, or if
 * the process of a whole group failed.
 */
export function canRepeat(file: string): boolean {
  const isOurs = file.startsWith(TEST) && existsSync(file);
  return isOurs && !/from 'fast-check'|randomInt|Math\.random/.test(readFileSync(file, 'utf8'));
}

function writeGroup(files: readonly string[], index: number, folder: string): string {
  const suites = files.map((file) => {
    const [name, url] = [relative(ROOT, file), pathToFileURL(file).href].map((text) => JSON.stringify(text));
    return `describe(${name}, async () => { await import(${url}); });\n`;
  });
  const path = join(folder, `group-${index + 1}.test.ts`);
  writeFileSync(path, `import { describe } from 'node:test';\n${suites.join('')}`);
  return path;
}

function dependsOnLevel(file: string, seen: Set<string>): boolean {
  if (seen.has(file) || !existsSync(file)) return false;
  seen.add(file);
  const imports = [...readFileSync(file, 'utf8').matchAll(/from '(\.[^']+\.ts)'/g)];
  return imports
    .map(([, specifier = '']) => resolve(dirname(file), specifier))
    .some((path) => path === RUNS || (path.startsWith(TEST) && dependsOnLevel(path, seen)));
}
