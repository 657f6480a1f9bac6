/** Prepares a series for display: known values in order of time, with gaps marked. */
import { clampAmount } from './axes.ts';

export interface ChartSeries {
  readonly name: string;
  /** Pairs of Unix seconds and value, as in the API. */
  readonly points: readonly (readonly number[])[];
}

export interface Span {
  readonly startS: number;
  readonly endS: number;
  /** The seconds that a point averages, from its time on. More than that between two points is a gap. */
  readonly stepS: number;
}

export interface Point {
  readonly timeS: number;
  /** Null where there is a gap. */
  readonly value: number | null;
}

/** Closer together, the ups and downs of a line cannot be distinguished. */
const POINT_EVERY_PX = 4;
const STEPS_PER_POINT = [1, 2, 3, 6, 12, 24, 48, 168];

/** Returns how many steps each point must average so that all fit on `widthPx`. */
export function chooseStepsPerPoint({ startS, endS, stepS }: Span, widthPx: number): number {
  const stepPx = (widthPx * stepS) / (endS - startS);
  return STEPS_PER_POINT.find((steps) => steps * stepPx >= POINT_EVERY_PX) ?? 168;
}

/** Returns points in the middle of the period that they average, with nulls in gaps. */
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
    const previous = middles[index - 1];
    const gap = previous !== undefined && point.timeS - previous.timeS > widthS * 1.5;
    return gap ? [{ timeS: point.timeS, value: null }, point] : [point];
  });
}

interface KnownPoint extends Point {
  readonly value: number;
}

function averagePoints(known: readonly KnownPoint[], widthS: number): KnownPoint[] {
  const periods = Map.groupBy(known, ({ timeS }) => Math.floor(timeS / widthS) * widthS);
  return [...periods].map(([timeS, values]) => ({
    timeS,
    value: values.reduce((sum, { value }) => sum + value, 0) / values.length,
  }));
}

export function knownValues(points: readonly Point[]): number[] {
  return points.flatMap(({ value }) => value ?? []);
}

/** Returns points between two gaps, which a line would not show. */
export function isolatedPoints(points: readonly Point[]): Point[] {
  const known = (index: number) => (points[index]?.value ?? null) !== null;
  return points.filter((_, index) => known(index) && !known(index - 1) && !known(index + 1));
}
