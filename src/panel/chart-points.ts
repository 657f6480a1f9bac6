/** What of a series can be shown: known values in order of time, and where there are none. */
import { clampAmount } from './chart-axes.ts';

export interface ChartSeries {
  readonly name: string;
  /** Times in Unix seconds with a value each, as the API has them. */
  readonly points: readonly (readonly number[])[];
}

export interface Span {
  readonly startS: number;
  readonly endS: number;
  /** A point is the mean of so long from its time on; more than that between two is a gap. */
  readonly stepS: number;
}

export interface Point {
  readonly timeS: number;
  /** Null where there is a gap. */
  readonly value: number | null;
}

/** Closer than this, lines that go up and down can no longer be told apart. */
const POINT_EVERY_PX = 4;
const STEPS_PER_POINT = [1, 2, 3, 6, 12, 24, 48, 168];

/** Of how many steps a point shows the mean, so that there is room for all on so many pixels. */
export function chooseStepsPerPoint({ startS, endS, stepS }: Span, widthPx: number): number {
  const stepPx = (widthPx * stepS) / (endS - startS);
  return STEPS_PER_POINT.find((steps) => steps * stepPx >= POINT_EVERY_PX) ?? 168;
}

/** Points in the middle of the time of which they are the mean. */
export function visiblePoints(points: ChartSeries['points'], span: Span, stepsPerPoint: number): Point[] {
  const { startS, endS, stepS } = span;
  const known = points.flatMap(([timeS = Number.NaN, value = Number.NaN]) =>
    Number.isFinite(value) && timeS > startS - stepS && timeS < endS
      ? [{ timeS, value: clampAmount(value) }]
      : [],
  );
  known.sort((a, b) => a.timeS - b.timeS);
  const widthS = stepS * stepsPerPoint;
  const middles = (stepsPerPoint > 1 ? averagePoints(known, widthS) : known).map(({ timeS, value }) => ({
    timeS: Math.min(Math.max(timeS + widthS / 2, startS), endS),
    value,
  }));
  return middles.flatMap((point, index) => {
    const before = middles[index - 1];
    const gap = before !== undefined && point.timeS - before.timeS > widthS * 1.5;
    return gap ? [{ timeS: point.timeS, value: null }, point] : [point];
  });
}

interface KnownPoint extends Point {
  readonly value: number;
}

function averagePoints(known: readonly KnownPoint[], widthS: number): KnownPoint[] {
  const stretches = Map.groupBy(known, ({ timeS }) => Math.floor(timeS / widthS) * widthS);
  return [...stretches].map(([timeS, values]) => ({
    timeS,
    value: values.reduce((sum, { value }) => sum + value, 0) / values.length,
  }));
}

export function knownValues(points: readonly Point[]): number[] {
  return points.flatMap(({ value }) => value ?? []);
}

/** Points between two gaps, which no line would show. */
export function isolatedPoints(points: readonly Point[]): Point[] {
  const known = (index: number) => (points[index]?.value ?? null) !== null;
  return points.filter((_, index) => known(index) && !known(index - 1) && !known(index + 1));
}
