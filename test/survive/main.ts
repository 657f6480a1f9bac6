/**
 * `npm run survive`: customers use the service while everything breaks, and a plain model says what must be
 * there afterward. Prints one table of figures. A failure prints the shortest history that shows it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect, parseArgs } from 'node:util';
import type { FaultSet } from './faults/names.ts';
import { describeStep, generate, type History, parseHistory, type Step } from './history.ts';
import { printTable, tableOf } from './report.ts';
import { type RunResult, runHistory } from './run.ts';
import { shrink } from './shrink.ts';

const MINUTE_MS = 60_000;
const SHRINK_RUNS = 24;
const PROBLEMS_SHOWN = 10;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '2' },
    history: { type: 'string' },
    cluster: { type: 'boolean', default: false },
    'shrink-minutes': { type: 'string', default: '10' },
    quiet: { type: 'boolean', default: false },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
const tell = values.quiet ? () => undefined : (line: string) => process.stderr.write(`${line}\n`);

/** Runs whose world did not start. */
let failedRuns = 0;
const stop = new AbortController();
/** Disks are unmounted, and processes end. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

process.exitCode = await main();

async function main(): Promise<number> {
  const saved = values.history === undefined ? null : parseHistory(await readFile(values.history, 'utf8'));
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
  const first = values.seed === undefined ? Math.floor(Math.random() * 1_000_000) : Number(values.seed);
  const forMs = Number(values.minutes) * MINUTE_MS;
  const faults: FaultSet = { disks: process.getuid?.() === 0, cluster: values.cluster };
  if (!faults.disks) say('skipped: full and read-only disks, which need root');
  if (!faults.cluster) say('skipped: fail-over, which needs --cluster');
  const results: RunResult[] = [];
  for (let seed = first; seed < first + Number(values.seeds) && !stop.signal.aborted; seed++) {
    tell(`seed ${seed}`);
    const options = { seed, faults, forMs, tell, signal: stop.signal };
    const result = await runHistory(generate(seed, faults), options).catch((error: unknown) => {
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
  const maxMs = Number(values['shrink-minutes']) * MINUTE_MS;
  const shrunk = await shrink(steps, { fails, maxRuns: SHRINK_RUNS, maxMs });
  say(`the shortest history that fails, after ${shrunk.runs} runs:`);
  for (const step of shrunk.steps) say(`  ${describeStep(step)}`);
  await save({ seed, faults, steps: shrunk.steps });
}

async function save(history: History): Promise<void> {
  const file = join(tmpdir(), `survive-${history.seed}-${history.steps.length}.json`);
  await writeFile(file, JSON.stringify(history));
  say(`run it again: npm run survive -- --history ${file}`);
}
