/** Where the parts of a chart are: its axes, and the points that fit on them. */
import { type AmountAxis, amountAxis, type ChartUnit } from './axes.ts';
import {
  type ChartSeries,
  chooseStepsPerPoint,
  knownValues,
  type Point,
  type Span,
  visiblePoints,
} from './points.ts';

export interface LineChart extends Span {
  readonly title: string;
  readonly unit: ChartUnit;
  /** One to three series, distinguished by dash pattern as well as by color. */
  readonly series: readonly ChartSeries[];
  /** The upper bound, if known, such as the installed memory. */
  readonly max?: number;
  readonly width: number;
  readonly height: number;
  readonly theme: ChartTheme;
  /** Only the lines, to the edges of the picture, for text next to it. */
  readonly plain?: true;
}
export type ChartTheme = 'light' | 'dark';

export const FONT_PX = 12;
export const TITLE_PX = 14;
/** Average width of a letter of DejaVu Sans, in em. */
export const LETTER_WIDTH_EM = 0.61;
export const ROW_PX = 22;
export const MARGIN_PX = 28;
export const TITLE_CHARS = 60;
export const NAME_CHARS = 24;

export interface PlotArea {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: (timeS: number) => number;
  readonly y: (value: number) => number;
}

/** Everything that depends on a chart's values. */
export interface ChartLayout {
  readonly span: Span;
  readonly series: readonly (readonly Point[])[];
  readonly isEmpty: boolean;
  readonly axis: AmountAxis;
  /** The unit of the axis, and what a point averages. */
  readonly unit: string;
  /** The legend is below the title. */
  readonly twoRows: boolean;
  readonly plot: PlotArea;
}

export function layOutChart(chart: LineChart): ChartLayout {
  const span = spanOf(chart);
  const stepsPerPoint = chooseStepsPerPoint(span, chart.width);
  const series = chart.series.map(({ points }) => visiblePoints(points, span, stepsPerPoint));
  const values = series.flatMap(knownValues);
  const axis = amountAxis(chart.unit, maxValue([chart.max ?? 0, ...values]));
  const average = `, averages of ${formatDuration(stepsPerPoint * span.stepS)}`;
  const unit = `${axis.name}${stepsPerPoint > 1 && values.length > 0 ? average : ''}`;
  const twoRows = chart.series.length > 1 && headWidth(chart, unit) > chart.width;
  const plot = plotArea(chart, axis, span, twoRows ? 2 : 1);
  return { span, series, isEmpty: values.length === 0, axis, unit, twoRows, plot };
}

export function spanOf({ startS, endS, stepS }: LineChart): Span {
  return { startS, endS: endS > startS ? endS : startS + stepS, stepS };
}

export function maxValue(values: readonly number[]): number {
  return values.reduce((max, value) => Math.max(max, value), 0);
}

function formatDuration(lengthS: number): string {
  const hours = Math.round(lengthS / 3_600);
  if (hours < 1) return `${Math.round(lengthS / 60)} minutes`;
  return hours % 24 === 0 && hours > 24 ? `${hours / 24} days` : `${hours} hours`;
}

function plotArea(chart: LineChart, axis: AmountAxis, span: Span, headRows: number): PlotArea {
  const edges = chart.plain ? plainEdges(chart) : framedEdges(chart, axis, headRows);
  const { left, right, top, bottom } = edges;
  return {
    ...edges,
    x: (timeS) => round(left + ((timeS - span.startS) / (span.endS - span.startS)) * (right - left)),
    y: (value) => round(bottom - (value / axis.top) * (bottom - top)),
  };
}

type Edges = Pick<PlotArea, 'left' | 'right' | 'top' | 'bottom'>;

/** Lines have a width. */
function plainEdges({ width, height }: LineChart): Edges {
  return { left: 0, right: width, top: 1, bottom: height - 1 };
}

function framedEdges(chart: LineChart, axis: AmountAxis, headRows: number): Edges {
  const longest = Math.max(...axis.ticks.map(({ text }) => text.length), 'UTC'.length);
  const left = Math.ceil(longest * FONT_PX * LETTER_WIDTH_EM) + 10;
  return {
    left,
    right: chart.width - MARGIN_PX,
    top: headRows * ROW_PX + 12,
    bottom: chart.height - ROW_PX - 4,
  };
}

export const SAMPLE_PX = 26;

export function nameWidth(name: string): number {
  return SAMPLE_PX + 6 + truncateText(name, NAME_CHARS).length * FONT_PX * LETTER_WIDTH_EM + 18;
}

function headWidth({ title, series }: LineChart, unit: string): number {
  const names = series.reduce((width, { name }) => width + nameWidth(name), 0);
  return (
    truncateText(title, TITLE_CHARS).length * TITLE_PX * LETTER_WIDTH_EM +
    unit.length * FONT_PX * LETTER_WIDTH_EM +
    30 +
    names
  );
}

/** Truncates text and replaces characters that XML forbids. */
export function truncateText(text: string, chars: number): string {
  const safe = text.toWellFormed().replace(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');
  const letters = [...safe];
  return letters.length <= chars ? safe : `${letters.slice(0, chars - 1).join('')}…`;
}

export function round(place: number): number {
  return Math.round(place * 10) / 10;
}
