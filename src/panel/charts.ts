/**
 * Charts of what was measured over time, as SVG that is made a picture before anybody sees it: Tor Browser at its safest
 * shows no SVG. Nothing is smoothed or filled in: a gap in the data is a gap in the line.
 */
import { area, line } from 'd3-shape';
import {
  type AmountAxis,
  amountAxis,
  type ChartUnit,
  momentName,
  showAmount,
  type Tick,
  timeTicks,
} from './chart-axes.ts';
import {
  alone,
  type ChartSeries,
  knownValues,
  type Point,
  type Span,
  shownPoints,
  stepsTogether,
} from './chart-points.ts';
import { type Html, html } from './html.ts';

export interface LineChart extends Span {
  readonly title: string;
  readonly unit: ChartUnit;
  /** One, two or three, told apart by how their lines are broken as well as by colour. */
  readonly series: readonly ChartSeries[];
  /** What the value can be at most, where that is known: the memory there is. */
  readonly most?: number;
  readonly width: number;
  readonly height: number;
  readonly theme: ChartTheme;
}
export type ChartTheme = 'light' | 'dark';

/** Colours of the panel, on its paper or its sheets: text has a contrast of 4.5 to 1 at least, lines have 3 to 1. */
const COLOURS = {
  light: { ink: '#17212b', soft: '#566270', line: '#d8d4ca', series: ['#0a5a67', '#b4501a', '#6b3fa0'] },
  dark: { ink: '#e9e6df', soft: '#a3adb8', line: '#34404b', series: ['#77cbd8', '#f0a468', '#c3a6f2'] },
} as const;
const DASHES = ['none', '7 4', '2 3'] as const;

const FONT_PX = 12;
const TITLE_PX = 14;
/** Mean width of a letter of DejaVu Sans, in its size. */
const LETTER = 0.61;
const ROW_PX = 22;
const MARGIN_PX = 28;
const TITLE_CHARS = 60;
const NAME_CHARS = 24;

interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly x: (timeS: number) => number;
  readonly y: (value: number) => number;
}

type Colours = (typeof COLOURS)[ChartTheme];

/** Draws on nothing, so that it fits whatever it stands on. */
export function lineChartSvg(chart: LineChart): string {
  const colours = COLOURS[chart.theme];
  const span = spanOf(chart);
  const together = stepsTogether(span, chart.width);
  const series = chart.series.map(({ points }) => shownPoints(points, span, together));
  const values = series.flatMap(knownValues);
  const axis = amountAxis(chart.unit, highest([chart.most ?? 0, ...values]));
  const unit = `${axis.name}${together > 1 && values.length > 0 ? `, means of ${duration(together * span.stepS)}` : ''}`;
  const twoRows = chart.series.length > 1 && headWidth(chart, unit) > chart.width;
  const frame = frameOf(chart, axis, span, twoRows ? 2 : 1);
  const times = timeTicks(span.startS, span.endS, frame.right - frame.left);
  const picture = html`<svg xmlns="http://www.w3.org/2000/svg" width="${chart.width}" height="${chart.height}" font-family="DejaVu Sans" font-size="${FONT_PX}">
<text x="0" y="${TITLE_PX}" font-size="${TITLE_PX}" fill="${colours.ink}">${cut(chart.title, TITLE_CHARS)}<tspan dx="7" font-size="${FONT_PX}" fill="${colours.soft}">${unit}</tspan></text>
${chart.series.length > 1 ? legend(chart, colours, twoRows) : null}
${amountGrid(axis.ticks, frame, colours)}
${timeGrid(times, frame, colours)}
${values.length > 0 ? series.map((points, index) => drawn(points, index, series.length, frame, colours)) : empty(frame, colours)}
</svg>`;
  return picture.text;
}

/** What a chart says, for those who do not see it. */
export function chartAlt(chart: LineChart): string {
  const span = spanOf(chart);
  const said = chart.series.map(({ name, points }) => {
    const known = knownValues(shownPoints(points, span, 1));
    const last = known.at(-1);
    if (last === undefined) return `${name}: no data yet`;
    return `${name}: ${showAmount(last, chart.unit)} last, ${showAmount(highest(known), chart.unit)} at most`;
  });
  return `${chart.title}, ${momentName(span.startS)} to ${momentName(span.endS)} UTC. ${said.join('; ')}.`;
}

function spanOf({ startS, endS, stepS }: LineChart): Span {
  return { startS, endS: endS > startS ? endS : startS + stepS, stepS };
}

function highest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function duration(lengthS: number): string {
  const hours = Math.round(lengthS / 3_600);
  if (hours < 1) return `${Math.round(lengthS / 60)} minutes`;
  return hours % 24 === 0 && hours > 24 ? `${hours / 24} days` : `${hours} hours`;
}

function frameOf(chart: LineChart, axis: AmountAxis, { startS, endS }: Span, headRows: number): Frame {
  const longest = Math.max(...axis.ticks.map(({ text }) => text.length), 'UTC'.length);
  const left = Math.ceil(longest * FONT_PX * LETTER) + 10;
  const right = chart.width - MARGIN_PX;
  const top = headRows * ROW_PX + 12;
  const bottom = chart.height - ROW_PX - 4;
  return {
    left,
    right,
    top,
    bottom,
    x: (timeS) => round(left + ((timeS - startS) / (endS - startS)) * (right - left)),
    y: (value) => round(bottom - (value / axis.top) * (bottom - top)),
  };
}

/** Lines lie on whole pixels, or they would be grey and wide. */
function crisp(place: number): number {
  return Math.floor(place) + 0.5;
}

function amountGrid(ticks: readonly Tick[], { left, right, y }: Frame, { line, soft }: Colours): Html[] {
  return ticks.map(({ at, text }) => {
    const colour = at === 0 ? soft : line;
    return html`<path d="M${left},${crisp(y(at))}H${right}" stroke="${colour}"/>
<text x="${left - 8}" y="${y(at) + 4}" text-anchor="end" fill="${soft}">${text}</text>
`;
  });
}

function timeGrid(ticks: readonly Tick[], { left, right, bottom, x }: Frame, { soft }: Colours): Html {
  const y = bottom + 20;
  const marks = ticks.map(({ at, text }) => {
    const half = (text.length * FONT_PX * LETTER) / 2;
    const anchor = x(at) - half < left ? 'start' : x(at) + half > right + MARGIN_PX ? 'end' : 'middle';
    return html`<path d="M${crisp(x(at))},${Math.floor(bottom)}v6" stroke="${soft}"/>
<text x="${x(at)}" y="${y}" text-anchor="${anchor}" fill="${soft}">${text}</text>
`;
  });
  return html`<text x="${left - 8}" y="${y}" text-anchor="end" fill="${soft}">UTC</text>
${marks}`;
}

function drawn(
  points: readonly Point[],
  index: number,
  count: number,
  frame: Frame,
  { series }: Colours,
): Html {
  const colour = series[index % series.length];
  const place = {
    defined: ({ value }: Point) => value !== null,
    x: ({ timeS }: Point) => frame.x(timeS),
    y: ({ value }: Point) => frame.y(value ?? 0),
  };
  const path = line<Point>(place.x, place.y).defined(place.defined).digits(1)(points);
  const fill = area<Point>(place.x, frame.bottom, place.y).defined(place.defined).digits(1)(points);
  return html`${count === 1 ? html`<path d="${fill}" fill="${colour}" fill-opacity=".13"/>` : null}
<path d="${path}" fill="none" stroke="${colour}" stroke-width="1.75" stroke-linejoin="round" stroke-dasharray="${DASHES[index % DASHES.length]}"/>
${alone(points).map((point) => html`<circle cx="${place.x(point)}" cy="${place.y(point)}" r="2" fill="${colour}"/>`)}`;
}

function empty({ left, right, top, bottom }: Frame, { soft }: Colours): Html {
  return html`<text x="${(left + right) / 2}" y="${(top + bottom) / 2 + 4}" text-anchor="middle" font-size="${TITLE_PX}" fill="${soft}">No data yet</text>`;
}

const SAMPLE_PX = 26;

function nameWidth(name: string): number {
  return SAMPLE_PX + 6 + cut(name, NAME_CHARS).length * FONT_PX * LETTER + 18;
}

function headWidth({ title, series }: LineChart, unit: string): number {
  const names = series.reduce((width, { name }) => width + nameWidth(name), 0);
  return cut(title, TITLE_CHARS).length * TITLE_PX * LETTER + unit.length * FONT_PX * LETTER + 30 + names;
}

/** At the right of the title; below it where there is no room. */
function legend(chart: LineChart, colours: Colours, below: boolean): Html[] {
  const whole = chart.series.reduce((width, { name }) => width + nameWidth(name), 0);
  const y = below ? ROW_PX + FONT_PX : FONT_PX + 1;
  let x = below ? 0 : chart.width - whole;
  return chart.series.map(({ name }, index) => {
    const colour = colours.series[index % colours.series.length];
    const entry = html`<path d="M${round(x)},${y - 4}h${SAMPLE_PX}" stroke="${colour}" stroke-width="2" stroke-dasharray="${DASHES[index % DASHES.length]}"/>
<text x="${round(x + SAMPLE_PX + 6)}" y="${y}" fill="${colours.ink}">${cut(name, NAME_CHARS)}</text>
`;
    x += nameWidth(name);
    return entry;
  });
}

/** Text that an SVG may hold: signs that XML forbids are shown as unknown. */
function cut(text: string, chars: number): string {
  const whole = text.toWellFormed().replace(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');
  const letters = [...whole];
  return letters.length <= chars ? whole : `${letters.slice(0, chars - 1).join('')}…`;
}

function round(place: number): number {
  return Math.round(place * 10) / 10;
}
