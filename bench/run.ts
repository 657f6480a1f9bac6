/** Runs benches, one after another, and judges their figures. */
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CannotMeasure, type Figure } from './figure.ts';
import { combineRounds, formatMeasured, judge, type Measured } from './report.ts';

export type Bench = (folder: string) => Promise<readonly Figure[]>;

export interface Output {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

export interface RunOptions {
  /** Names of benches; empty: all. */
  readonly wanted: readonly string[];
  /** How often each runs. Rounds of all benches alternate, so that a slow phase of the machine hits all. */
  readonly rounds?: number;
  readonly folder: string;
}

export interface RunResult {
  /**
   * False if a figure misses its limit, or if a named bench does not exist or cannot be measured on this
   * machine. A run of all benches only reports a bench that cannot be measured.
   */
  readonly passed: boolean;
  readonly figures: readonly Measured[];
}

export async function runBenches(
  benches: readonly Bench[],
  { wanted, rounds = 1, folder }: RunOptions,
  { out, err }: Output,
): Promise<RunResult> {
  const unknown = wanted.filter((name) => benches.every((bench) => bench.name !== name));
  for (const name of unknown) err(`unknown bench ${name}; choose from ${joinNames(benches)}`);
  const chosen = benches.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const values: (readonly Figure[])[] = [];
  let unmeasured = 0;
  for (let round = 1; round <= rounds; round++) {
    for (const bench of chosen) {
      try {
        const figures = await bench(await makeFolder(folder, `${bench.name}-${round}`));
        values.push(figures);
        if (rounds === 1) for (const figure of combineRounds([figures])) out(formatMeasured(figure));
      } catch (error) {
        if (!(error instanceof CannotMeasure)) throw error;
        if (round === 1) err(`not measured: ${error.message}`);
        unmeasured++;
      }
    }
  }
  const figures = combineRounds(values);
  if (rounds > 1) for (const figure of figures) out(formatMeasured(figure));
  const isComplete = unknown.length === 0 && (wanted.length === 0 || unmeasured === 0);
  return { passed: isComplete && figures.every((figure) => judge(figure) !== 'MISSED'), figures };
}

/** The database, which runs as another user when root runs the benches, must be able to enter it. */
async function makeFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  await chmod(folder, 0o755);
  return folder;
}

function joinNames(benches: readonly Bench[]): string {
  return benches.map(({ name }) => name).join(', ');
}
