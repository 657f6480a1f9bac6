/**
 * `npm run mutations`: makes deliberate faults in a copy of the project, one at a time, and expects the named
 * test of each to fail. Prints a line per mutation; exits 1 if a mutation survives.
 *
 *     npm run mutations -- [--all] [--only TEXT…] [--seed N] [--count K] [--within S] [--verbose]
 *
 * Without options, two mutations chosen by a random seed. `--within`: only those with such a budget.
 */
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { MUTATIONS } from '../test/mutations/all.ts';
import type { Mutation } from '../test/mutations/mutation.ts';
import { judge, type Outcome, type Result, runTests, stopRunning } from './mutations/run-tests.ts';
import { createScratchCopy, type ScratchCopy } from './mutations/scratch-copy.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DEFAULT_COUNT = 2;
/** The tests must pass without a mutation within this time. */
const BASELINE_LIMIT_MS = 10 * 60_000;
/** A busy machine gets more than the budget: so many times the time of the tests without the mutation. */
const SLOW_FACTOR = 3;

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string' },
    count: { type: 'string' },
    within: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

/** The first signal that asked us to stop. */
let stopSignal: NodeJS.Signals | null = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    stopSignal ??= signal;
    stopRunning();
  });
}

process.exitCode = await main().catch((error: unknown) => {
  print(error instanceof Error ? error.message : String(error));
  return 1;
});

async function main(): Promise<number> {
  const chosen = chooseMutations();
  if (chosen.length === 0) throw new Error('No mutation has such a name.');
  const copy = await createScratchCopy(ROOT);
  try {
    const database = await startEmbedded({ dataDir: copy.database, log: print });
    try {
      const { host, port, user, database: name } = database.connection;
      const url = `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`;
      const survivors = await runAll(copy, url, chosen);
      if (stopSignal !== null) return 128 + constants.signals[stopSignal];
      print(`${chosen.length - survivors} of ${chosen.length} mutations caught`);
      return survivors === 0 ? 0 : 1;
    } finally {
      await database.stop();
    }
  } finally {
    await copy.remove();
  }
}

/** Chooses by name, or a run of the list that begins at the seed, so that consecutive seeds try all. */
function chooseMutations(): readonly Mutation[] {
  if (values.all) return MUTATIONS;
  if (values.only.length > 0) {
    return MUTATIONS.filter(({ name, file }) => values.only.some((text) => `${file} ${name}`.includes(text)));
  }
  const seed = wholeNumber(values.seed, Math.floor(Math.random() * 1_000_000));
  const budgetS = wholeNumber(values.within, Number.POSITIVE_INFINITY);
  const all = MUTATIONS.filter((mutation) => mutation.budgetS <= budgetS);
  const count = Math.min(wholeNumber(values.count, DEFAULT_COUNT), all.length);
  print(`--seed ${seed} --count ${count}`);
  const first = (seed * count) % all.length;
  return [...all, ...all].slice(first, first + count);
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new Error('--seed, --count, and --within are whole numbers.');
  return Number(text);
}

/** Returns how many mutations survived. */
async function runAll(copy: ScratchCopy, url: string, chosen: readonly Mutation[]): Promise<number> {
  const width = Math.max(...chosen.map(({ name }) => name.length));
  const baselines = new Map<string, Outcome>();
  let survivors = 0;
  for (const mutation of chosen) {
    const { caughtBy, level = 'sample' } = mutation;
    const key = `${level} ${caughtBy.file}`;
    const names = chosen.filter((other) => `${other.level ?? 'sample'} ${other.caughtBy.file}` === key);
    const before = baselines.get(key) ?? (await runBaseline(copy, url, mutation, names));
    baselines.set(key, before);
    if (stopSignal !== null) break;
    const verdict = await tryMutation(copy, url, mutation, before);
    if (stopSignal !== null) break;
    if (verdict.result !== 'ok') survivors += 1;
    const seconds = verdict.seconds.toFixed(1).padStart(6);
    print(`${verdict.result.padEnd(8)} ${seconds} s  ${mutation.name.padEnd(width)}  ${caughtBy.file}`);
    if (verdict.result !== 'ok' || values.verbose) print(`${verdict.detail.replace(/^/gm, '    ')}\n`);
  }
  return survivors;
}

/** Runs all tests of one file that the chosen mutations name. */
async function runBaseline(
  copy: ScratchCopy,
  url: string,
  { caughtBy, level = 'sample' }: Mutation,
  chosen: readonly Mutation[],
): Promise<Outcome> {
  const isWhole = chosen.some(({ runsWholeFile }) => runsWholeFile);
  const names = isWhole ? [] : [...new Set(chosen.map((mutation) => mutation.caughtBy.name))];
  const run = { file: caughtBy.file, names, level, limitMs: BASELINE_LIMIT_MS };
  const first = await runTests(copy, url, run);
  // A stalled machine can fail a test.
  return first.passed || stopSignal !== null ? first : await runTests(copy, url, run);
}

interface Verdict {
  readonly result: Result;
  readonly seconds: number;
  readonly detail: string;
}

async function tryMutation(
  copy: ScratchCopy,
  url: string,
  mutation: Mutation,
  before: Outcome,
): Promise<Verdict> {
  if (!before.passed || before.passedCount === 0) {
    const detail = `the tests do not pass without the mutation:\n${before.output}`;
    return { result: 'UNSOUND', seconds: before.seconds, detail };
  }
  const { caughtBy, level = 'sample', budgetS, runsWholeFile } = mutation;
  const limitMs = 1_000 * Math.max(budgetS, SLOW_FACTOR * before.seconds);
  const names = runsWholeFile ? [] : [caughtBy.name];
  const run = { file: caughtBy.file, names, level, limitMs };
  const outcome = await copy.withMutation(mutation, () => runTests(copy, url, run));
  return { result: judge(outcome, caughtBy.name), seconds: outcome.seconds, detail: outcome.output };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
