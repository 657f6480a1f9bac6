/**
 * Time-series charts, as SVG that is rendered as PNG: Tor Browser's safest mode shows no SVG. Nothing is
 * smoothed or interpolated; a gap in the data is a gap in the line.
 */
import { area, line } from 'd3-shape';
import { type Html, type HtmlValue, html } from '../parts/html.ts';
import { formatAmount, formatDateTime, type Tick, timeTicks } from './axes.ts';
import {
  type ChartTheme,
  FONT_PX,
  LETTER_WIDTH_EM,
  type LineChart,
  layOutChart,
  MARGIN_PX,
  maxValue,
  NAME_CHARS,
  nameWidth,
  type PlotArea,
  ROW_PX,
  round,
  SAMPLE_PX,
  spanOf,
  TITLE_CHARS,
  TITLE_PX,
  truncateText,
} from './plot.ts';
import { isolatedPoints, knownValues, type Point, visiblePoints } from './points.ts';

/** The panel's colors. Text has a contrast of at least 4.5:1 on its backgrounds, lines 3:1. */
const COLORS = {
  light: { ink: '#17212b', soft: '#566270', line: '#d8d4ca', series: ['#0a5a67', '#b4501a', '#6b3fa0'] },
  dark: { ink: '#e9e6df', soft: '#a3adb8', line: '#34404b', series: ['#77cbd8', '#f0a468', '#c3a6f2'] },
} as const;
const DASHES = ['none', '7 4', '2 3'] as const;

type ChartColors = (typeof COLORS)[ChartTheme];

/** Renders a chart with a transparent background, so that it fits any page. */
export function lineChartSvg(chart: LineChart): string {
  const colors = COLORS[chart.theme];
  const { span, series, isEmpty, axis, unit, twoRows, plot } = layOutChart(chart);
  const lines = series.map((points, index) => seriesPaths(points, index, series.length, plot, colors));
  if (chart.plain) return svg(chart, lines).text;
  const times = timeTicks(span.startS, span.endS, plot.right - plot.left);
  const title = truncateText(chart.title, TITLE_CHARS);
  const content = html`<text x="0" y="${TITLE_PX}" font-size="${TITLE_PX}" fill="${colors.ink}">${title}<tspan
dx="7" font-size="${FONT_PX}" fill="${colors.soft}">${unit}</tspan></text>
${chart.series.length > 1 ? legend(chart, colors, twoRows) : null}
${amountGrid(axis.ticks, plot, colors)}
${timeGrid(times, plot, colors)}
${isEmpty ? noDataText(plot, colors) : lines}`;
  return svg(chart, content).text;
}

function svg({ width, height }: LineChart, content: HtmlValue): Html {
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"
font-family="DejaVu Sans" font-size="${FONT_PX}">
${content}
</svg>`;
}

/** Describes a chart as text, for people who cannot see it. */
export function chartAlt(chart: LineChart): string {
  const span = spanOf(chart);
  const descriptions = chart.series.map(({ name, points }) => {
    const known = knownValues(visiblePoints(points, span, 1));
    const last = known.at(-1);
    if (last === undefined) return `${name}: no data yet`;
    const max = formatAmount(maxValue(known), chart.unit);
    return `${name}: latest ${formatAmount(last, chart.unit)}, maximum ${max}`;
  });
  const period = `${formatDateTime(span.startS)} to ${formatDateTime(span.endS)} UTC`;
  return `${chart.title}, ${period}. ${descriptions.join('; ')}.`;
}

/** Aligns lines to whole pixels; otherwise they would be gray and wide. */
function alignToPixel(place: number): number {
  return Math.floor(place) + 0.5;
}

function amountGrid(
  ticks: readonly Tick[],
  { left, right, y }: PlotArea,
  { line, soft }: ChartColors,
): Html[] {
  return ticks.map(({ at, text }) => {
    const color = at === 0 ? soft : line;
    return html`<path d="M${left},${alignToPixel(y(at))}H${right}" stroke="${color}"/>
<text x="${left - 8}" y="${y(at) + 4}" text-anchor="end" fill="${soft}">${text}</text>
`;
  });
}

function timeGrid(ticks: readonly Tick[], { left, right, bottom, x }: PlotArea, { soft }: ChartColors): Html {
  const y = bottom + 20;
  const marks = ticks.map(({ at, text }) => {
    const half = (text.length * FONT_PX * LETTER_WIDTH_EM) / 2;
    const anchor = x(at) - half < left ? 'start' : x(at) + half > right + MARGIN_PX ? 'end' : 'middle';
    return html`<path d="M${alignToPixel(x(at))},${Math.floor(bottom)}v6" stroke="${soft}"/>
<text x="${x(at)}" y="${y}" text-anchor="${anchor}" fill="${soft}">${text}</text>
`;
  });
  return html`<text x="${left - 8}" y="${y}" text-anchor="end" fill="${soft}">UTC</text>
${marks}`;
}

function seriesPaths(
  points: readonly Point[],
  index: number,
  count: number,
  plot: PlotArea,
  { series }: ChartColors,
): Html {
  const color = series[index % series.length];
  const place = {
    defined: ({ value }: Point) => value !== null,
    x: ({ timeS }: Point) => plot.x(timeS),
    y: ({ value }: Point) => plot.y(value ?? 0),
  };
  const path = line<Point>(place.x, place.y).defined(place.defined).digits(1)(points);
  const fill = area<Point>(place.x, plot.bottom, place.y).defined(place.defined).digits(1)(points);
  const dots = isolatedPoints(points).map(
    (point) => html`<circle cx="${place.x(point)}" cy="${place.y(point)}" r="2" fill="${color}"/>`,
  );
  return html`${count === 1 ? html`<path d="${fill}" fill="${color}" fill-opacity=".13"/>` : null}
<path d="${path}" fill="none" stroke="${color}" stroke-width="1.75" stroke-linejoin="round"
stroke-dasharray="${DASHES[index % DASHES.length]}"/>
${dots}`;
}

function noDataText({ left, right, top, bottom }: PlotArea, { soft }: ChartColors): Html {
  return html`<text x="${(left + right) / 2}" y="${(top + bottom) / 2 + 4}" text-anchor="middle"
font-size="${TITLE_PX}" fill="${soft}">No data yet</text>`;
}

/** Returns the legend, to the right of the title or below it. */
function legend(chart: LineChart, colors: ChartColors, below: boolean): Html[] {
  const legendWidth = chart.series.reduce((width, { name }) => width + nameWidth(name), 0);
  const y = below ? ROW_PX + FONT_PX : FONT_PX + 1;
  let x = below ? 0 : chart.width - legendWidth;
  return chart.series.map(({ name }, index) => {
    const color = colors.series[index % colors.series.length];
    const dashes = DASHES[index % DASHES.length];
    const entry = html`<path d="M${round(x)},${y - 4}h${SAMPLE_PX}" stroke="${color}" stroke-width="2"
stroke-dasharray="${dashes}"/>
<text x="${round(x + SAMPLE_PX + 6)}" y="${y}" fill="${colors.ink}">${truncateText(name, NAME_CHARS)}</text>
`;
    x += nameWidth(name);
    return entry;
  });
}
