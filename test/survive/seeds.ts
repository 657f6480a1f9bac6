/** Runs one history after another, and explains each failure with the shortest history that still fails. */
import { inspect } from 'node:util';
import type { FaultSet } from './faults/names.ts';
import { describeStep, type History, type Step } from './history.ts';
import type { RunOptions, RunResult } from './run.ts';
import { shrink } from './shrink.ts';

const SHRINK_RUNS = 24;
const LINES_SHOWN = 10;
/** Longer than the time limit of any request. */
const SLOW_ANSWER_MS = 15_000;

export interface Attempt {
  readonly seed: number;
  readonly faults: FaultSet;
  readonly steps: Iterable<Step>;
  readonly forMs: number;
  /** 0: its failure is only shown. */
  readonly shrinkMs: number;
}

export interface SeedsParts {
  readonly run: (steps: Iterable<Step>, options: RunOptions) => Promise<RunResult>;
  readonly save: (history: History) => Promise<void>;
  readonly print: (line: string) => void;
  readonly tell: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface SeedsOutcome {
  readonly results: readonly RunResult[];
  /** Runs whose world did not start. */
  readonly failedRuns: number;
}

export async function runSeeds(attempts: Iterable<Attempt>, parts: SeedsParts): Promise<SeedsOutcome> {
  const { run, print, tell, signal } = parts;
  const results: RunResult[] = [];
  let failedRuns = 0;
  for (const { seed, faults, steps, forMs, shrinkMs } of attempts) {
    if (signal.aborted) break;
    tell(`seed ${seed}`);
    const result = await run(steps, { seed, faults, forMs, tell, signal }).catch((error: unknown) => {
      print(`seed ${seed} did not run: ${inspect(error)}`);
      return null;
    });
    if (result === null) failedRuns += 1;
    else {
      results.push(result);
      for (const failure of result.faultFailures.slice(0, LINES_SHOWN))
        print(`fault without effect: ${failure}`);
      for (const recovery of result.recoveries.slow.slice(0, LINES_SHOWN))
        print(`slow recovery of seed ${seed}: ${recovery}`);
      const { ms, what } = result.asked.slowest;
      if (ms > SLOW_ANSWER_MS) print(`slow answer of seed ${seed}: ${what} took ${ms} ms`);
      // An error here must not lose the result.
      await explain(result, { faults, shrinkMs }, parts).catch((error: unknown) =>
        print(`seed ${seed} is not explained: ${inspect(error)}`),
      );
    }
  }
  return { results, failedRuns };
}

/** Prints what failed, and the shortest history that fails in one of these ways. */
async function explain(
  { seed, steps, problems }: RunResult,
  { faults, shrinkMs }: Pick<Attempt, 'faults' | 'shrinkMs'>,
  parts: SeedsParts,
): Promise<void> {
  const { print, tell, signal, run, save } = parts;
  if (problems.length === 0) return;
  print(`seed ${seed} failed after ${steps.length} steps`);
  for (const { kind, text } of problems.slice(0, LINES_SHOWN)) print(`${kind}: ${text}`);
  if (shrinkMs === 0) return;
  await save({ seed, faults, steps });
  const kinds = new Set(problems.map(({ kind }) => kind));
  const fails = async (candidate: readonly Step[]): Promise<boolean> => {
    if (signal.aborted) return false;
    const options = { seed, faults, forMs: Number.POSITIVE_INFINITY, signal };
    const result = await run(candidate, options).catch((error: unknown) => {
      tell(`${candidate.length} steps did not run: ${error}`);
      return null;
    });
    const found = result?.problems.map(({ kind }) => kind) ?? [];
    tell(`${candidate.length} steps: ${found.join(' ') || 'held'}`);
    return found.some((kind) => kinds.has(kind));
  };
  const shrunk = await shrink(steps, { fails, maxRuns: SHRINK_RUNS, maxMs: shrinkMs });
  print(`the shortest history that fails, after ${shrunk.runs} runs:`);
  for (const step of shrunk.steps) print(`  ${describeStep(step)}`);
  await save({ seed, faults, steps: shrunk.steps });
}
