/** Runs benches one after another, and judges what they measured. */
import { CannotMeasure, type Figure } from './figure.ts';

export type Bench = (folder: string) => Promise<readonly Figure[]>;

export interface Output {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

/**
 * Those that are wanted by name, or all. False where a figure is missed; or where one that was named is not there, or cannot be
 * measured on this machine. Among all of them such a one is told and passed over.
 */
export async function runBenches(
  benches: readonly Bench[],
  selected: readonly string[],
  folder: string,
  { out, err }: Output,
): Promise<boolean> {
  const unknown = selected.filter((name) => benches.every((bench) => bench.name !== name));
  for (const name of unknown) err(`there is no bench ${name}; there are ${joinNames(benches)}`);
  let passed = unknown.length === 0;
  for (const bench of benches) {
    if (selected.length > 0 && !selected.includes(bench.name)) continue;
    try {
      for (const figure of await bench(folder)) {
        const verdict = judge(figure);
        passed &&= verdict !== 'MISSED';
        out(formatFigure(figure, verdict));
      }
    } catch (error) {
      if (!(error instanceof CannotMeasure)) throw error;
      err(`not measured: ${error.message}`);
      passed &&= selected.length === 0;
    }
  }
  return passed;
}

function joinNames(benches: readonly Bench[]): string {
  return benches.map(({ name }) => name).join(', ');
}

type Verdict = 'goal met' | 'held' | 'MISSED';

function judge({ value, heldTo, goal, bound }: Figure): Verdict {
  const meets = (limit: number) => (bound === 'min' ? value >= limit : value <= limit);
  return meets(goal) ? 'goal met' : meets(heldTo) ? 'held' : 'MISSED';
}

function formatFigure({ name, value, unit, heldTo, goal, bound }: Figure, verdict: Verdict): string {
  const sign = bound === 'min' ? '≥' : '≤';
  const measured = `${name.padEnd(58)} ${value.toFixed(2).padStart(9)} ${unit.padEnd(3)}`;
  return `${measured} (${sign} ${heldTo}, goal ${sign} ${goal}) ${verdict}`;
}
