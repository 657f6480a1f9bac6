/** Runs benches one after another and judges their figures. */
import { CannotMeasure, type Figure } from './figure.ts';

export type Bench = (folder: string) => Promise<readonly Figure[]>;

export interface Output {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
}

/**
 * Runs the named benches, or all. Returns false if a figure misses its limit, or if a named bench does not
 * exist or cannot be measured on this machine. A run of all benches only reports a bench that cannot be
 * measured.
 */
export async function runBenches(
  benches: readonly Bench[],
  selected: readonly string[],
  folder: string,
  { out, err }: Output,
): Promise<boolean> {
  const unknown = selected.filter((name) => benches.every((bench) => bench.name !== name));
  for (const name of unknown) err(`unknown bench ${name}; choose from ${joinNames(benches)}`);
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

type Verdict = 'goal met' | 'within limit' | 'MISSED';

function judge({ value, limit, goal, bound }: Figure): Verdict {
  const meets = (threshold: number) => (bound === 'min' ? value >= threshold : value <= threshold);
  return meets(goal) ? 'goal met' : meets(limit) ? 'within limit' : 'MISSED';
}

function formatFigure({ name, value, unit, limit, goal, bound }: Figure, verdict: Verdict): string {
  const sign = bound === 'min' ? '≥' : '≤';
  const measured = `${name.padEnd(58)} ${value.toFixed(2).padStart(9)} ${unit.padEnd(3)}`;
  return `${measured} (${sign} ${limit}, goal ${sign} ${goal}) ${verdict}`;
}
