/**
 * Figures of several rounds as one document: medians, the range that contains the true median with some
 * confidence, and how they differ from an earlier document.
 */
import { type Figure, median } from './figure.ts';

export interface Measured extends Omit<Figure, 'value'> {
  readonly median: number;
  /** The smallest and largest value. Of five rounds, they enclose the true median with 94 % confidence. */
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
}

export interface Report {
  readonly commit: string;
  readonly node: string;
  readonly figures: readonly Measured[];
}

export type Verdict = 'goal met' | 'within limit' | 'MISSED';

/** Changes below this share are noise, even if the ranges are apart. */
const NOTABLE_SHARE = 0.03;

/** Combines the values of each figure. A figure that a round could not measure has fewer rounds. */
export function combineRounds(rounds: readonly (readonly Figure[])[]): Measured[] {
  const byName = Map.groupBy(rounds.flat(), ({ name }) => name);
  return [...byName.values()].flatMap((figures) => {
    const values = figures.map(({ value }) => value);
    const [first] = figures;
    if (first === undefined) return [];
    const { value: _, ...rest } = first;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return { ...rest, median: median(values), low, high, rounds: values.length };
  });
}

export function judge({ median: value, limit, goal, bound }: Measured): Verdict {
  const meets = (threshold: number) => (bound === 'min' ? value >= threshold : value <= threshold);
  return meets(goal) ? 'goal met' : meets(limit) ? 'within limit' : 'MISSED';
}

/** One line: the median, its range, the limit and goal, and the verdict. */
export function formatMeasured(figure: Measured): string {
  const { name, unit, limit, goal, bound, rounds, low, high } = figure;
  const sign = bound === 'min' ? '≥' : '≤';
  const range = rounds > 1 ? ` [${low.toFixed(2)}, ${high.toFixed(2)}]` : '';
  const measured = `${name.padEnd(58)} ${figure.median.toFixed(2).padStart(9)} ${unit.padEnd(3)}${range}`;
  return `${measured} (${sign} ${limit}, goal ${sign} ${goal}) ${judge(figure)}`;
}

/**
 * One line for each figure of both documents. `better` and `worse` only where the ranges are apart and the
 * medians differ by more than 3 %.
 */
export function compareReports(now: Report, before: Report): string[] {
  const earlier = new Map(before.figures.map((figure) => [figure.name, figure]));
  return now.figures.flatMap((figure) => {
    const old = earlier.get(figure.name);
    if (old === undefined) return `${figure.name.padEnd(58)} new`;
    const change = figure.median / old.median - 1;
    const percent = `${change >= 0 ? '+' : ''}${(change * 100).toFixed(1)} %`;
    const [from, to] = [old, figure].map((one) => one.median.toFixed(2).padStart(9));
    const values = `${from} → ${to} ${figure.unit.padEnd(3)} ${percent.padStart(9)}`;
    return `${figure.name.padEnd(58)} ${values} ${describeChange(figure, old)}`;
  });
}

function describeChange(now: Measured, before: Measured): 'same' | 'better' | 'worse' {
  const areApart = now.low > before.high || now.high < before.low;
  const isNotable = Math.abs(now.median - before.median) > NOTABLE_SHARE * Math.abs(before.median);
  if (!areApart || !isNotable) return 'same';
  return now.median > before.median === (now.bound === 'min') ? 'better' : 'worse';
}
