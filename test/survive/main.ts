/**
 * `npm run survive`: customers use the service while everything breaks, and a plain model says what must be
 * there afterward. Prints one table of figures. A failure prints the shortest history that shows it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killLeftovers } from '../support/skerryd-process.ts';
import type { FaultSet } from './faults/names.ts';
import { generate, type History, parseHistory } from './history.ts';
import { parseOptions, type SurviveOptions } from './options.ts';
import { printTable, tableOf } from './report.ts';
import { runHistory } from './run.ts';
import { type Attempt, runSeeds } from './seeds.ts';
import { closeEverything } from './world/closing.ts';

const options = readOptions();
const print = (line: string) => process.stdout.write(`${line}\n`);
const tell = options.quiet ? () => undefined : (line: string) => process.stderr.write(`${line}\n`);

const stop = new AbortController();
/** npm passes on a signal that the terminal has already sent to every process. */
const AGAIN_AFTER_MS = 500;
let stoppedMs = Number.POSITIVE_INFINITY;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, endOrStop);

process.exitCode = await main().catch(refuse);

function readOptions(): SurviveOptions {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    return process.exit(refuse(error));
  }
}

function refuse(error: unknown): number {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  return 2;
}

/** The first signal ends the run after the current step, the second one at once. */
function endOrStop(): void {
  if (!stop.signal.aborted) {
    stoppedMs = performance.now();
    stop.abort();
    tell('stops after this step; another signal stops it at once');
  } else if (performance.now() > stoppedMs + AGAIN_AFTER_MS) void endNow();
}

/** Processes end, and disks are unmounted. */
async function endNow(): Promise<void> {
  await closeEverything();
  killLeftovers();
  process.exit(130);
}

async function main(): Promise<number> {
  const { history } = options;
  const attempts = history === null ? seeds() : [replay(parseHistory(await readFile(history, 'utf8')))];
  const parts = { run: runHistory, save, print, tell, signal: stop.signal };
  const { results, failedRuns } = await runSeeds(attempts, parts);
  const rows = tableOf(results, failedRuns);
  print(printTable(rows));
  const isOk = rows.every((row) => row.isOk);
  if (stop.signal.aborted) {
    print('INTERRUPTED');
    return 130;
  }
  print(isOk ? 'Everything held.' : 'FAILED');
  return isOk ? 0 : 1;
}

function* seeds(): Generator<Attempt> {
  const { firstSeed, seeds, forMs, shrinkMs, cluster } = options;
  const faults: FaultSet = { disks: process.getuid?.() === 0, cluster };
  if (!faults.disks) print('skipped: full and read-only disks, which need root');
  if (!faults.cluster) print('skipped: fail-over, which needs --cluster');
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++)
    yield { seed, faults, steps: generate(seed, faults), forMs, shrinkMs };
}

function replay({ seed, faults, steps }: History): Attempt {
  return { seed, faults, steps, forMs: Number.POSITIVE_INFINITY, shrinkMs: 0 };
}

async function save(history: History): Promise<void> {
  const file = join(tmpdir(), `survive-${history.seed}-${history.steps.length}.json`);
  await writeFile(file, JSON.stringify(history));
  print(`run it again: npm run survive -- --history ${file}`);
}
