/** One measured ratio or time, with what it is held to. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly heldTo: number;
  readonly goal: number;
  /** `min`: the value must be at least that; `max`: at most. */
  readonly bound: 'min' | 'max';
}

/** What this machine lacks to measure it. */
export class CannotMeasure extends Error {}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
