/** A server's metrics, as charts and as a table. */

import type { MetricsStep } from '../../spec/metrics.ts';
import { serverPagePath } from '../../spec/paths.ts';
import type { Metrics } from '../../spec/schemas/server-actions.ts';
import { formatAmount } from '../charts/axes.ts';
import { chartAlt } from '../charts/chart.ts';
import type { ChartTheme, LineChart } from '../charts/plot.ts';
import { section, table, time } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { type ServerPage, serverView } from './layout.ts';

/** The selectable periods: length, step of the values, and minutes that a table row averages. */
const PERIODS = {
  '1h': { name: 'Last hour', hours: 1, stepS: 60, rowMinutes: 2 },
  '6h': { name: '6 hours', hours: 6, stepS: 60, rowMinutes: 15 },
  '24h': { name: '24 hours', hours: 24, stepS: 3600, rowMinutes: 60 },
  '48h': { name: '48 hours', hours: 48, stepS: 300, rowMinutes: 120 },
  '7d': { name: '7 days', hours: 7 * 24, stepS: 3600, rowMinutes: 6 * 60 },
  '30d': { name: '30 days', hours: 30 * 24, stepS: 3600, rowMinutes: 24 * 60 },
} as const satisfies Readonly<Record<string, PeriodRow>>;
interface PeriodRow {
  readonly name: string;
  readonly hours: number;
  readonly stepS: MetricsStep;
  readonly rowMinutes: number;
}
export type Period = keyof typeof PERIODS;

const CHARTS = ['cpu', 'memory', 'disk', 'network'] as const;
export type ChartName = (typeof CHARTS)[number];

const TITLES: Readonly<Record<ChartName, string>> = {
  cpu: 'CPU',
  memory: 'Memory',
  disk: 'Disk',
  network: 'Network',
};

const MINUTE_S = 60;
const HOUR_S = 3_600;
/** Values of the steps above a minute change that often. */
const SAMPLES_EVERY_S = 300;
const WIDTH_PX = 640;
const HEIGHT_PX = 220;
/** A pixel row of the last hour has room for each minute. */
const SMALL = { width: 240, height: 48, plain: true } as const;

export function isPeriod(word: string): word is Period {
  return Object.hasOwn(PERIODS, word);
}

export function isChart(word: string): word is ChartName {
  return (CHARTS as readonly string[]).includes(word);
}

/** Returns the time at which the charts of a page end. Its pictures, loaded later, end there too. */
export function chartsEnd({ end }: Pick<Metrics, 'end'>): number {
  return Math.floor(Date.parse(end) / 1_000 / MINUTE_S) * MINUTE_S;
}

/** The step of the metrics that the page of a period needs. */
export function stepOf(period: Period): MetricsStep {
  return PERIODS[period].stepS;
}

interface MetricsData extends ServerPage {
  readonly metrics: Metrics;
  readonly period: Period;
}

interface ChartData extends Pick<MetricsData, 'metrics' | 'period' | 'ramMb'> {
  /** In Unix seconds. */
  readonly endS: number;
  /** A small one without text, for text next to it. */
  readonly isSmall?: boolean;
}

/** Returns one of the four charts. The picture, its alternative text, and its values all use it. */
export function serverChart(
  { metrics, period, ramMb, endS, isSmall }: ChartData,
  name: ChartName,
  theme: ChartTheme,
): LineChart {
  const span = { startS: endS - PERIODS[period].hours * HOUR_S, endS, stepS: metrics.step_s };
  const size = isSmall ? SMALL : ({ width: WIDTH_PX, height: HEIGHT_PX } as const);
  const { cpu_pct, ram_mb, disk_read_bps, disk_write_bps, net_in_bps, net_out_bps } = metrics.series;
  const line = (seriesName: string, points: readonly (readonly number[])[]) => ({ name: seriesName, points });
  const charts: Record<ChartName, Pick<LineChart, 'unit' | 'series' | 'max'>> = {
    cpu: { unit: 'percent', series: [line('used', cpu_pct)] },
    memory: { unit: 'mebibytes', max: ramMb, series: [line('used', ram_mb)] },
    disk: {
      unit: 'bytes_per_s',
      series: [line('read', disk_read_bps), line('write', disk_write_bps)],
    },
    network: {
      unit: 'bits_per_s',
      series: [line('inbound', net_in_bps), line('outbound', net_out_bps)],
    },
  };
  return { title: TITLES[name], theme, ...span, ...size, ...charts[name] };
}

export function metricsView(data: MetricsData): View {
  const { server, period, metrics } = data;
  const here = serverPagePath(server.id, 'metrics');
  const links = Object.entries(PERIODS).map(([word, { name }]) => {
    return word === period
      ? html`<strong>${name}</strong> `
      : html`<a href="${here}?period=${word}">${name}</a> `;
  });
  const isEmpty = metrics.series.cpu_pct.length === 0;
  const charts = CHARTS.map((name) => part(name, !isEmpty && chartFigure(data, name)));
  const view = serverView(
    data,
    'metrics',
    html`<p class="row">Period: ${links}</p>
${part(
  'charts',
  isEmpty &&
    html`<p>No data for this period. The first values appear within minutes after the
server starts.</p>`,
)}
<div class="columns">${charts}</div>
${part('values', !isEmpty && section('Values', metricsTable(data)))}`,
  );
  const valuesEveryS = stepOf(period) === MINUTE_S ? MINUTE_S : SAMPLES_EVERY_S;
  return { ...view, scripts: ['charts'], valuesEveryS };
}

function chartFigure(data: MetricsData, name: ChartName): Html {
  const chart = serverChart({ ...data, endS: chartsEnd(data.metrics) }, name, 'light');
  const { server, period } = data;
  return html`<figure class="graph" data-values="${chartUrl(server.id, period, chart, `${name}.json`)}"
data-label="${TITLES[name]}, values by time">${chartPicture(server.id, period, name, chart)}</figure>
`;
}

function chartUrl(serverId: string, period: Period, { endS }: LineChart, file: string): string {
  return `${serverPagePath(serverId)}/charts/${file}?period=${period}&until=${endS}`;
}

/** Returns the picture for both color schemes. */
export function chartPicture(serverId: string, period: Period, name: ChartName, chart: LineChart): Html {
  const size = chart.plain ? '&size=small' : '';
  const pictureUrl = (theme: ChartTheme, scale: number) =>
    `${chartUrl(serverId, period, chart, `${name}.png`)}${size}&theme=${theme}&scale=${scale}`;
  const srcset = (theme: ChartTheme) => `${pictureUrl(theme, 1)} 1x, ${pictureUrl(theme, 2)} 2x`;
  const alt = chart.plain ? `${TITLES[name]} in the last hour` : chartAlt(chart);
  return html`<picture><source media="(prefers-color-scheme: dark)" srcset="${srcset('dark')}">
<img class="chart" src="${pictureUrl('light', 1)}" srcset="${srcset('light')}"
width="${chart.width}" height="${chart.height}" alt="${alt}"></picture>`;
}

/** Returns a table of averages with about 30 rows at most. */
function metricsTable({ metrics, period }: MetricsData): Html {
  const { rowMinutes, hours } = PERIODS[period];
  const widthS = rowMinutes * 60;
  const startS = chartsEnd(metrics) - hours * HOUR_S;
  const { series } = metrics;
  const [cpu, ram, ...rates] = [
    series.cpu_pct,
    series.ram_mb,
    series.disk_read_bps,
    series.disk_write_bps,
    series.net_in_bps,
    series.net_out_bps,
  ].map((points) => averageByPeriod(points, startS, widthS));
  const starts = [...(cpu?.keys() ?? [])].toSorted((a, b) => b - a);
  const units = ['bytes_per_s', 'bytes_per_s', 'bits_per_s', 'bits_per_s'] as const;
  const title = rowTitle(rowMinutes);
  return html`<details><summary>${title}</summary>
${table({
  caption: `${title}, newest first`,
  columns: [
    'From',
    ...['CPU', 'Memory', 'Read', 'Write', 'Inbound', 'Outbound'].map(
      (name) => ({ name, class: 'number' }) as const,
    ),
  ],
  rows: starts.map((rowStartS) => [
    time(new Date(rowStartS * 1_000).toISOString()),
    formatAmount(cpu?.get(rowStartS) ?? 0, 'percent'),
    formatAmount(ram?.get(rowStartS) ?? 0, 'mebibytes'),
    ...rates.map((rate, index) => formatAmount(rate.get(rowStartS) ?? 0, units[index] ?? 'bytes_per_s')),
  ]),
})}</details>`;
}

function rowTitle(minutes: number): string {
  if (minutes === 60) return 'Hourly averages';
  return minutes < 60 ? `${minutes}-minute averages` : `${minutes / 60}-hour averages`;
}

/** Averages points per period of `widthS`, keyed by the Unix second at which the period starts. */
function averageByPeriod(
  points: readonly (readonly number[])[],
  startS: number,
  widthS: number,
): Map<number, number> {
  const sums = new Map<number, { sum: number; count: number }>();
  for (const [timeS = 0, value = 0] of points) {
    if (timeS < startS) continue;
    const periodStartS = Math.floor(timeS / widthS) * widthS;
    const found = sums.get(periodStartS) ?? { sum: 0, count: 0 };
    sums.set(periodStartS, { sum: found.sum + value, count: found.count + 1 });
  }
  return new Map([...sums].map(([periodStartS, { sum, count }]) => [periodStartS, sum / count]));
}
