/**
 * `npm run mutations`: makes deliberate faults in a copy of the project, one at a time, and expects the named
 * test of each to fail. Prints a line per mutation; exits 1 if a mutation survives.
 *
 *     npm run mutations -- [--all] [--only TEXT…] [--seed N] [--count K] [--verbose]
 *
 * Without options, two mutations chosen by the seed.
 */
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { MUTATIONS } from '../test/mutations/all.ts';
import type { Mutation } from '../test/mutations/mutation.ts';
import { type Outcome, runTests, stopRunning } from './mutations/run-tests.ts';
import { createScratchCopy, type ScratchCopy } from './mutations/scratch-copy.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DEFAULT_COUNT = 2;
/** The unmutated tests must pass within this time. */
const UNMUTATED_LIMIT_MS = 10 * 60_000;
/** A busy machine gets more than the budget: this many times what the unmutated tests took a moment ago. */
const SLOW_FACTOR = 3;

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string' },
    count: { type: 'string' },
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
  const count = Math.min(wholeNumber(values.count, DEFAULT_COUNT), MUTATIONS.length);
  print(`--seed ${seed} --count ${count}`);
  return Array.from(
    { length: count },
    (_, index) => MUTATIONS[(seed * count + index) % MUTATIONS.length],
  ).filter((mutation) => mutation !== undefined);
}

function wholeNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new Error('--seed and --count are whole numbers.');
  return Number(text);
}

/** Returns how many mutations survived. */
async function runAll(copy: ScratchCopy, url: string, chosen: readonly Mutation[]): Promise<number> {
  const width = Math.max(...chosen.map(({ name }) => name.length));
  const unmutated = new Map<string, Outcome>();
  let survivors = 0;
  for (const mutation of chosen) {
    const { caughtBy, level = 'sample' } = mutation;
    const key = `${level} ${caughtBy.file}`;
    const names = chosen.filter((other) => `${other.level ?? 'sample'} ${other.caughtBy.file}` === key);
    const before = unmutated.get(key) ?? (await runUnmutated(copy, url, mutation, names));
    unmutated.set(key, before);
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
async function runUnmutated(
  copy: ScratchCopy,
  url: string,
  { caughtBy, level = 'sample' }: Mutation,
  chosen: readonly Mutation[],
): Promise<Outcome> {
  const names = [...new Set(chosen.map((mutation) => mutation.caughtBy.name))];
  const run = { file: caughtBy.file, names, level, limitMs: UNMUTATED_LIMIT_MS };
  const first = await runTests(copy, url, run);
  // A stalled machine can fail a test.
  return first.passed || stopSignal !== null ? first : await runTests(copy, url, run);
}

interface Verdict {
  readonly result: 'ok' | 'SURVIVED' | 'LATE' | 'UNSOUND';
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
  const { caughtBy, level = 'sample', budgetS } = mutation;
  const limitMs = 1_000 * Math.max(budgetS, SLOW_FACTOR * before.seconds);
  const run = { file: caughtBy.file, names: [caughtBy.name], level, limitMs };
  const outcome = await copy.withMutation(mutation, () => runTests(copy, url, run));
  return { result: judge(outcome, caughtBy.name), seconds: outcome.seconds, detail: outcome.output };
}

/** A mutation is caught if the named test itself fails, not only its file or its setup. */
function judge(outcome: Outcome, name: string): Verdict['result'] {
  if (outcome.failed.some((title) => title.includes(name))) return 'ok';
  if (outcome.timedOut) return 'LATE';
  return outcome.passed ? 'SURVIVED' : 'UNSOUND';
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
