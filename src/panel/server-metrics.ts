/** What a server did lately: charts, and the same as a table. */
import { serverPagePath } from '../spec/paths.ts';
import { METRICS_STEP_S, type Metrics } from '../spec/schemas/metrics.ts';
import { formatAmount } from './chart-axes.ts';
import { type ChartTheme, chartAlt, type LineChart } from './charts.ts';
import { section, table, time } from './components.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { type ServerPage, serverView } from './server-layout.ts';

/** Hours that are shown, and of how many a row of the table is the mean. */
export const PERIODS = {
  '24h': { name: '24 hours', hours: 24, rowHours: 1 },
  '7d': { name: '7 days', hours: 7 * 24, rowHours: 6 },
  '30d': { name: '30 days', hours: 30 * 24, rowHours: 24 },
} as const;
export type Period = keyof typeof PERIODS;

export const CHARTS = ['cpu', 'memory', 'disk', 'network'] as const;
export type ChartName = (typeof CHARTS)[number];

const WIDTH_PX = 640;
const HEIGHT_PX = 220;

export function isPeriod(word: string): word is Period {
  return Object.hasOwn(PERIODS, word);
}

export function isChart(word: string): word is ChartName {
  return (CHARTS as readonly string[]).includes(word);
}

export interface MetricsData extends ServerPage {
  readonly metrics: Metrics;
  readonly period: Period;
}

/** One of the four charts; the picture and the words beside it are made of the same. */
export function serverChart(
  { metrics, period, ramMb }: Pick<MetricsData, 'metrics' | 'period' | 'ramMb'>,
  name: ChartName,
  theme: ChartTheme,
): LineChart {
  const endS = Date.parse(metrics.end) / 1_000;
  const span = { startS: endS - PERIODS[period].hours * METRICS_STEP_S, endS, stepS: METRICS_STEP_S };
  const size = { width: WIDTH_PX, height: HEIGHT_PX, theme };
  const { cpu_pct, ram_mb, disk_read_bps, disk_write_bps, net_in_bps, net_out_bps } = metrics.series;
  const line = (seriesName: string, points: readonly (readonly number[])[]) => ({ name: seriesName, points });
  const charts: Record<ChartName, Pick<LineChart, 'title' | 'unit' | 'series' | 'max'>> = {
    cpu: { title: 'Processors', unit: 'percent', series: [line('in use', cpu_pct)] },
    memory: { title: 'Memory', unit: 'mebibytes', max: ramMb, series: [line('in use', ram_mb)] },
    disk: {
      title: 'Disk',
      unit: 'bytes_per_s',
      series: [line('read', disk_read_bps), line('written', disk_write_bps)],
    },
    network: {
      title: 'Network',
      unit: 'bits_per_s',
      series: [line('in', net_in_bps), line('out', net_out_bps)],
    },
  };
  return { ...span, ...size, ...charts[name] };
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
  return serverView(
    data,
    'metrics',
    html`<p class="row">Shown: ${links}</p>
${
  isEmpty
    ? html`<p>Nothing is measured yet. The first values are there within the hour after it runs.</p>`
    : html`<div class="columns">${CHARTS.map((name) => chartPicture(data, name))}</div>
${section('The same in numbers', metricsTable(data))}`
}`,
  );
}

function chartPicture(data: MetricsData, name: ChartName): Html {
  const chart = serverChart(data, name, 'light');
  const pictureUrl = (theme: ChartTheme, scale: number) =>
    `${serverPagePath(data.server.id)}/charts/${name}.png?period=${data.period}&theme=${theme}&scale=${scale}`;
  const srcset = (theme: ChartTheme) => `${pictureUrl(theme, 1)} 1x, ${pictureUrl(theme, 2)} 2x`;
  return html`<p><picture><source media="(prefers-color-scheme: dark)" srcset="${srcset('dark')}">
<img class="chart" src="${pictureUrl('light', 1)}" srcset="${srcset('light')}" width="${WIDTH_PX}" height="${HEIGHT_PX}" alt="${chartAlt(chart)}"></picture></p>
`;
}

/** At most some thirty rows: each the mean of so many hours. */
function metricsTable({ metrics, period }: MetricsData): Html {
  const { rowHours, hours } = PERIODS[period];
  const widthS = rowHours * METRICS_STEP_S;
  const startS = Date.parse(metrics.end) / 1_000 - hours * METRICS_STEP_S;
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
  return html`<details><summary>Means of ${rowHours === 1 ? 'an hour' : `${rowHours} hours`}</summary>
${table({
  caption: `Means of ${rowHours === 1 ? 'an hour' : `${rowHours} hours`}, the latest first`,
  columns: [
    'From',
    ...['Processors', 'Memory', 'Read', 'Written', 'In', 'Out'].map(
      (name) => ({ name, class: 'number' }) as const,
    ),
  ],
  rows: starts.map((pictureUrl) => [
    time(new Date(pictureUrl * 1_000).toISOString()),
    formatAmount(cpu?.get(pictureUrl) ?? 0, 'percent'),
    formatAmount(ram?.get(pictureUrl) ?? 0, 'mebibytes'),
    ...rates.map((rate, index) => formatAmount(rate.get(pictureUrl) ?? 0, units[index] ?? 'bytes_per_s')),
  ]),
})}</details>`;
}

/** By the Unix second at which each stretch begins. */
function averageByPeriod(
  points: readonly (readonly number[])[],
  startS: number,
  widthS: number,
): Map<number, number> {
  const sums = new Map<number, { sum: number; count: number }>();
  for (const [pictureUrl = 0, value = 0] of points) {
    if (pictureUrl < startS) continue;
    const begin = Math.floor(pictureUrl / widthS) * widthS;
    const found = sums.get(begin) ?? { sum: 0, count: 0 };
    sums.set(begin, { sum: found.sum + value, count: found.count + 1 });
  }
  return new Map([...sums].map(([begin, { sum, count }]) => [begin, sum / count]));
}
