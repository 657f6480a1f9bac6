/** The overview: what is wrong, what is sold, and what is left to sell. */
import { FIGURE_PERIODS, type FigureName, type FigurePeriod } from '../../spec/staff/figures.ts';
import { chartAlt } from '../charts/chart.ts';
import type { ChartTheme, LineChart } from '../charts/plot.ts';
import { buttonLink, detailList, section, statusBadge, table, tabs } from '../parts/components.ts';
import { formatGib, formatMemory, formatNumber, formatShare, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { part } from '../parts/live.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { UPDATES_EVERY_S } from './parts.ts';

export interface StatusFinding {
  readonly level: 'ok' | 'note' | 'warn' | 'fail';
  readonly subject: string;
  readonly message: string;
}

/** As in `figures.get`. */
export interface Figures {
  readonly period: FigurePeriod;
  readonly step_s: number;
  readonly start: string;
  readonly end: string;
  readonly churn: number | null;
  readonly series: readonly {
    readonly name: FigureName;
    readonly title: string;
    readonly unit: 'usd' | 'count';
    readonly part: string | null;
    readonly total: number | null;
    readonly points: readonly (readonly [timeS: number, value: number])[];
  }[];
}

export interface Capacity {
  readonly region: string;
  readonly hosts: number;
  readonly hosts_unavailable: number;
  readonly ram_mb: number;
  readonly used_ram_mb: number;
  readonly disk_gb: number;
  readonly used_disk_gb: number;
  readonly ipv4_free: number;
  readonly ipv4_used: number;
  readonly ipv6_free: number;
  readonly ipv6_used: number;
  readonly machines: readonly { readonly plan: string; readonly total: number; readonly free: number }[];
}

const LEVELS = [
  { level: 'fail', title: 'Failing', tone: 'bad' },
  { level: 'warn', title: 'Needs attention', tone: 'busy' },
  { level: 'note', title: 'Good to know', tone: 'off' },
  { level: 'ok', title: 'OK', tone: 'good' },
] as const;

/** Each has up to three figures of one unit. `coins` shows the parts of its figure. */
const CHARTS = {
  money: { title: 'Money', figures: ['topups', 'charges', 'revenue'] },
  recurring: { title: 'Monthly recurring revenue', figures: ['mrr'] },
  balances: { title: 'Sum of balances', figures: ['balances'] },
  growth: { title: 'Growth', figures: ['sign_ups', 'servers_created', 'servers_destroyed'] },
  customers: { title: 'Customers and servers', figures: ['customers', 'paying_customers', 'servers'] },
  coins: { title: 'Top-ups by coin', figures: ['topups'] },
} as const satisfies Readonly<Record<string, { title: string; figures: readonly FigureName[] }>>;
type ChartName = keyof typeof CHARTS;
const CHART_NAMES = Object.keys(CHARTS) as ChartName[];

const WIDTH_PX = 640;
const HEIGHT_PX = 220;
const SERIES_MAX = 3;

export const FIGURES_PATH = '/figures';

export function isFigureChart(word: string): word is ChartName {
  return Object.hasOwn(CHARTS, word);
}

export function figureChart(figures: Figures, name: ChartName, theme: ChartTheme): LineChart {
  const { title, figures: names } = CHARTS[name];
  const wanted: readonly FigureName[] = names;
  const shown = figures.series
    .filter((row) => wanted.includes(row.name) && (row.part !== null) === (name === 'coins'))
    .toSorted((a, b) => (name === 'coins' ? (b.total ?? 0) - (a.total ?? 0) : 0))
    .slice(0, SERIES_MAX);
  return {
    title,
    theme,
    unit: shown[0]?.unit ?? 'usd',
    series: shown.map((row) => ({ name: row.part ?? row.title, points: row.points })),
    startS: Date.parse(figures.start) / 1_000,
    endS: Date.parse(figures.end) / 1_000,
    stepS: figures.step_s,
    width: WIDTH_PX,
    height: HEIGHT_PX,
  };
}

/** The worst findings come first. */
export function overviewView(data: {
  readonly findings: readonly StatusFinding[];
  readonly figures: Figures;
  readonly capacity: readonly Capacity[];
}): ConsoleView {
  const { findings, figures, capacity } = data;
  const urgent = LEVELS.slice(0, 2).map((level) => findingsSection(findings, level));
  const others = LEVELS.slice(2).map((level) => findingsSection(findings, level));
  const failing = findings.filter(({ level }) => level === 'fail').length;
  const warnings = findings.filter(({ level }) => level === 'warn').length;
  return {
    title: 'Overview',
    section: 'overview',
    status: failing > 0 ? statusBadge('failing', 'bad') : statusBadge('in service', 'good'),
    facts: [`${failing} failing`, `${warnings} to look at`],
    scripts: ['charts'],
    updatesEveryS: UPDATES_EVERY_S,
    body: html`${part('urgent', urgent)}
${part('business', section('Business', businessSection(figures)))}
${part('capacity', section('Capacity', capacityTable(capacity)))}
${part('others', others)}`,
  };
}

function findingsSection(
  findings: readonly StatusFinding[],
  { level, title, tone }: (typeof LEVELS)[number],
): Html | null {
  const rows = findings
    .filter((finding) => finding.level === level)
    .map(({ subject, message }) => [statusBadge(subject, tone), message]);
  if (rows.length === 0) return null;
  return section(title, table({ caption: title, columns: ['Subject', 'Finding'], rows }));
}

function businessSection(figures: Figures): Html {
  const { period, series, churn } = figures;
  const links = Object.entries(FIGURE_PERIODS).map(
    ([word, { title }]) => [title, periodPath(word as FigurePeriod)] as const,
  );
  const rows = series
    .filter(({ part }) => part === null)
    .map(({ title, unit, total }) => {
      const text = total === null ? '–' : unit === 'usd' ? usd(total) : formatNumber(total);
      return [title, text] as const;
    });
  const all = [...rows, ['Churn of servers', churn === null ? '–' : formatShare(churn)] as const];
  const charts = CHART_NAMES.map((name) => chartFigure(figures, name));
  return html`${tabs('Period', links, periodPath(period))}
<div class="columns">${charts}</div>
${detailList(all)}
<p>${buttonLink('Download as CSV', `${FIGURES_PATH}.csv?period=${period}`, 'plain')}</p>`;
}

function periodPath(period: FigurePeriod): string {
  return `${CONSOLE_PATHS.overview}?period=${period}`;
}

function chartFigure(figures: Figures, name: ChartName): Html {
  const chart = figureChart(figures, name, 'light');
  const url = (file: string, rest = '') => `${FIGURES_PATH}/${file}?period=${figures.period}${rest}`;
  const picture = (theme: ChartTheme, scale: number) => url(`${name}.png`, `&theme=${theme}&scale=${scale}`);
  const srcset = (theme: ChartTheme) => `${picture(theme, 1)} 1x, ${picture(theme, 2)} 2x`;
  return html`<figure class="graph" data-values="${url(`${name}.json`)}"
data-label="${chart.title}, values by time"><picture>
<source media="(prefers-color-scheme: dark)" srcset="${srcset('dark')}">
<img class="chart" src="${picture('light', 1)}" srcset="${srcset('light')}"
width="${chart.width}" height="${chart.height}" alt="${chartAlt(chart)}"></picture></figure>
`;
}

function capacityTable(capacity: readonly Capacity[]): Html {
  const usage = (used: number, all: number, format: (amount: number) => string) => {
    const label = `${format(used)} of ${format(all)}`;
    const max = Math.max(all, 1);
    return html`<progress max="${max}" value="${used}" aria-label="${label}"></progress><br>${label}`;
  };
  return table({
    caption: 'Used, by region',
    columns: ['Region', 'Memory', 'Disk', 'IPv4 addresses', 'IPv6 networks', 'Dedicated machines'],
    rows: capacity.map((row) => [
      html`<a href="${CONSOLE_PATHS.hosts}?region=${row.region}">${row.region}</a>${
        row.hosts_unavailable > 0 && ` (${row.hosts_unavailable} of ${row.hosts} hosts unavailable)`
      }`,
      usage(row.used_ram_mb, row.ram_mb, formatMemory),
      usage(row.used_disk_gb, row.disk_gb, formatGib),
      usage(row.ipv4_used, row.ipv4_used + row.ipv4_free, formatNumber),
      usage(row.ipv6_used, row.ipv6_used + row.ipv6_free, formatNumber),
      row.machines.map(({ plan, free, total }) => `${plan}: ${free} of ${total} free`).join(', ') || '–',
    ]),
  });
}
