/** Runs benches one after another, and judges what they measured. */
import { CannotMeasure, type Figure } from './figure.ts';

export type Bench = (folder: string) => Promise<readonly Figure[]>;

export interface Lines {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

/**
 * Those that are wanted by name, or all. False where a figure is missed; or where one that was named is not there, or cannot be
 * measured on this machine. Among all of them such a one is told and passed over.
 */
export async function runBenches(
  benches: readonly Bench[],
  wanted: readonly string[],
  folder: string,
  { out, err }: Lines,
): Promise<boolean> {
  const unknown = wanted.filter((name) => benches.every((bench) => bench.name !== name));
  for (const name of unknown) err(`there is no bench ${name}; there are ${namesOf(benches)}`);
  let isWell = unknown.length === 0;
  for (const bench of benches) {
    if (wanted.length > 0 && !wanted.includes(bench.name)) continue;
    try {
      for (const figure of await bench(folder)) {
        const verdict = judge(figure);
        isWell &&= verdict !== 'MISSED';
        out(lineOf(figure, verdict));
      }
    } catch (error) {
      if (!(error instanceof CannotMeasure)) throw error;
      err(`not measured: ${error.message}`);
      isWell &&= wanted.length === 0;
    }
  }
  return isWell;
}

function namesOf(benches: readonly Bench[]): string {
  return benches.map(({ name }) => name).join(', ');
}

type Verdict = 'goal met' | 'held' | 'MISSED';

function judge({ value, heldTo, goal, bound }: Figure): Verdict {
  const within = (limit: number) => (bound === 'min' ? value >= limit : value <= limit);
  return within(goal) ? 'goal met' : within(heldTo) ? 'held' : 'MISSED';
}

function lineOf({ name, value, unit, heldTo, goal, bound }: Figure, verdict: Verdict): string {
  const sign = bound === 'min' ? '≥' : '≤';
  const measured = `${name.padEnd(58)} ${value.toFixed(2).padStart(9)} ${unit.padEnd(3)}`;
  return `${measured} (${sign} ${heldTo}, goal ${sign} ${goal}) ${verdict}`;
}
