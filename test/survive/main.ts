/**
 * `npm run survive`: customers use the service while everything breaks, and a plain model says what must be
 * there afterward. Prints one table of figures. A failure prints the shortest history that shows it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { FaultSet } from './faults/names.ts';
import { describeStep, generate, type History, parseHistory, type Step } from './history.ts';
import { parseOptions, type SurviveOptions } from './options.ts';
import { printTable, tableOf } from './report.ts';
import { type RunResult, runHistory } from './run.ts';
import { shrink } from './shrink.ts';

const SHRINK_RUNS = 24;
const PROBLEMS_SHOWN = 10;

const options = readOptions();
const say = (line: string) => process.stdout.write(`${line}\n`);
const tell = options.quiet ? () => undefined : (line: string) => process.stderr.write(`${line}\n`);

/** Runs whose world did not start. */
let failedRuns = 0;
const stop = new AbortController();
/** Disks are unmounted, and processes end. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

process.exitCode = await main();

function readOptions(): SurviveOptions {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(2);
  }
}

async function main(): Promise<number> {
  const { history } = options;
  const saved = history === null ? null : parseHistory(await readFile(history, 'utf8'));
  const results = saved === null ? await runSeeds() : [await replay(saved)];
  const rows = tableOf(results, failedRuns);
  say(printTable(rows));
  const isOk = rows.every((row) => row.isOk);
  if (stop.signal.aborted) {
    say('INTERRUPTED');
    return 130;
  }
  say(isOk ? 'Everything held.' : 'FAILED');
  return isOk ? 0 : 1;
}

async function runSeeds(): Promise<RunResult[]> {
  const { firstSeed, seeds, forMs, cluster } = options;
  const faults: FaultSet = { disks: process.getuid?.() === 0, cluster };
  if (!faults.disks) say('skipped: full and read-only disks, which need root');
  if (!faults.cluster) say('skipped: fail-over, which needs --cluster');
  const results: RunResult[] = [];
  for (let seed = firstSeed; seed < firstSeed + seeds && !stop.signal.aborted; seed++) {
    tell(`seed ${seed}`);
    const run = { seed, faults, forMs, tell, signal: stop.signal };
    const result = await runHistory(generate(seed, faults), run).catch((error: unknown) => {
      say(`seed ${seed} did not run: ${inspect(error)}`);
      return null;
    });
    if (result === null) failedRuns += 1;
    else results.push(result);
    if (result !== null && result.problems.length > 0) await explain(result, faults);
  }
  return results;
}

async function replay({ seed, faults, steps }: History): Promise<RunResult> {
  const result = await runHistory(steps, { seed, faults, forMs: Number.POSITIVE_INFINITY, tell });
  for (const { kind, text } of result.problems.slice(0, PROBLEMS_SHOWN)) say(`${kind}: ${text}`);
  return result;
}

/** Prints what failed, and the shortest history that fails in one of these ways. */
async function explain({ seed, steps, problems }: RunResult, faults: FaultSet): Promise<void> {
  say(`seed ${seed} failed after ${steps.length} steps`);
  for (const { kind, text } of problems.slice(0, PROBLEMS_SHOWN)) say(`${kind}: ${text}`);
  await save({ seed, faults, steps });
  const kinds = new Set(problems.map(({ kind }) => kind));
  const fails = async (candidate: readonly Step[]): Promise<boolean> => {
    if (stop.signal.aborted) return false;
    const result = await runHistory(candidate, { seed, faults, forMs: Number.POSITIVE_INFINITY });
    tell(`${candidate.length} steps: ${result.problems.map(({ kind }) => kind).join(' ') || 'held'}`);
    return result.problems.some(({ kind }) => kinds.has(kind));
  };
  const shrunk = await shrink(steps, { fails, maxRuns: SHRINK_RUNS, maxMs: options.shrinkMs });
  say(`the shortest history that fails, after ${shrunk.runs} runs:`);
  for (const step of shrunk.steps) say(`  ${describeStep(step)}`);
  await save({ seed, faults, steps: shrunk.steps });
}

async function save(history: History): Promise<void> {
  const file = join(tmpdir(), `survive-${history.seed}-${history.steps.length}.json`);
  await writeFile(file, JSON.stringify(history));
  say(`run it again: npm run survive -- --history ${file}`);
}
