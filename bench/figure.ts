/** One measured ratio or time, with its limit and its goal. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly limit: number;
  readonly goal: number;
  /** `min`: the value must be at least the limit; `max`: at most. */
  readonly bound: 'min' | 'max';
}

/** Thrown when this machine lacks a program or a privilege that the bench needs. */
export class CannotMeasure extends Error {}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Returns the value that the share `share` of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
}
