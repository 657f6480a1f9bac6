/** Draws a chart in one line of text. */
const BARS = [...'▁▂▃▄▅▆▇█'];

export type Point = readonly [unixS: number, value: number];

/**
 * Covers `startS` to `endS` in at most `width` bars, scaled from zero to the highest mean. A gap is a space.
 */
export function sparkline(
  points: readonly Point[],
  span: { readonly startS: number; readonly endS: number; readonly stepS: number },
  width: number,
): string {
  const steps = Math.ceil((span.endS - span.startS) / span.stepS);
  const perBar = Math.max(1, Math.ceil(steps / width));
  const bars = Array.from({ length: Math.ceil(steps / perBar) }, (): number[] => []);
  for (const [unixS, value] of points) {
    bars[Math.floor((unixS - span.startS) / (span.stepS * perBar))]?.push(value);
  }
  const means = bars.map((values) => (values.length === 0 ? null : meanOf(values)));
  const highest = Math.max(0, ...means.map((mean) => mean ?? 0));
  return means.map((mean) => (mean === null ? ' ' : barFor(highest === 0 ? 0 : mean / highest))).join('');
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function barFor(share: number): string {
  return BARS[Math.min(BARS.length - 1, Math.floor(share * BARS.length))] ?? '';
}
