import type { Metrics } from '@skerry/sdk';
import { command } from '../../command.ts';
import { FIND_SERVER, findServer } from '../../find.ts';
import { arg, integer, text } from '../../options.ts';
import type { Column } from '../../output/format.ts';

const HOURS = 24;
const HOURS_MAX = 30 * 24;
const HOUR_S = 3_600;
/** The steps, and how many hours of each the API has. */
const STEP_HOURS = { '60': 6, '300': 48, '3600': HOURS_MAX } as const;
type Step = keyof typeof STEP_HOURS;
const CHART_MAX = 48;
/** The width of the other columns. */
const OTHER_COLUMNS_WIDTH = 62;

interface Row {
  readonly series: keyof Metrics['series'];
  readonly points: readonly Point[];
  readonly chart: string;
}

const formatPercent = (value: number) => `${value.toFixed(1)} %`;
const formatMib = (value: number) => `${Math.round(value)} MiB`;
const UNITS: Readonly<Record<Row['series'], (value: number) => string>> = {
  cpu_pct: formatPercent,
  ram_mb: formatMib,
  disk_read_bps: formatRate,
  disk_write_bps: formatRate,
  net_in_bps: formatRate,
  net_out_bps: formatRate,
};
const SERIES = Object.keys(UNITS) as readonly Row['series'][];

const COLUMNS: readonly Column<Row>[] = [
  { name: 'series', value: ({ series }) => series },
  { name: 'now', value: (row) => formatStatistic(row, (values) => values.at(-1)) },
  { name: 'average', value: (row) => formatStatistic(row, meanOf) },
  { name: 'maximum', value: (row) => formatStatistic(row, (values) => Math.max(...values)) },
  { name: 'chart', value: ({ chart }) => chart, hidden: true },
];

export const metrics = command({
  name: 'server metrics',
  about: 'Show the load of a server: current, average, and maximum',
  help:
    'Values are means of an hour, or with --step of five minutes (48 hours) or of a minute (6 hours).\n' +
    'JSON output contains the whole API object, regardless of --hours.',
  operations: ['servers.metrics', ...FIND_SERVER],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {
    hours: integer('number', `Number of past hours, at most ${HOURS_MAX} (default: ${HOURS})`, {
      min: 1,
      max: HOURS_MAX,
    }),
    step: text('seconds', 'Seconds between two values (default: 3600)', { choices: Object.keys(STEP_HOURS) }),
  },
  columns: COLUMNS,
  example: 'skerry server metrics web-1 --hours 48',
  run: async ({ skerry, terminal, output }, { server, hours = HOURS, step = '3600' }) => {
    const { id } = await findServer(skerry, server);
    const stepS = Number(step) as Metrics['step_s'];
    const found = await skerry.servers.metrics(id, stepS === HOUR_S ? {} : { step_s: stepS });
    // A point stands for the step that starts at its time; the last hour is the current one.
    const endS = Math.ceil((Date.parse(found.end) / 1_000 + 1) / stepS) * stepS;
    const startS = endS - Math.min(hours, STEP_HOURS[step as Step]) * HOUR_S;
    const width = Math.min(CHART_MAX, Math.max(8, terminal.columns - OTHER_COLUMNS_WIDTH));
    const rows = SERIES.map((series): Row => {
      const points = (found.series[series] as unknown as readonly Point[]).filter(([at]) => at >= startS);
      return { series, points, chart: sparkline(points, { startS, endS, stepS }, width) };
    });
    const columns = terminal.stdout.isTTY ? COLUMNS.map((one) => ({ ...one, hidden: false })) : COLUMNS;
    output.list(rows, columns, found);
  },
});

function formatStatistic(
  { series, points }: Row,
  pick: (values: readonly number[]) => number | undefined,
): string | null {
  const value = points.length === 0 ? undefined : pick(points.map(([, one]) => one));
  return value === undefined ? null : UNITS[series](value);
}

const KIB = 1_024;

/** Formats bytes per second. */
function formatRate(bytes: number): string {
  if (bytes < KIB) return `${Math.round(bytes)} B/s`;
  if (bytes < KIB ** 2) return `${(bytes / KIB).toFixed(1)} KiB/s`;
  if (bytes < KIB ** 3) return `${(bytes / KIB ** 2).toFixed(1)} MiB/s`;
  return `${(bytes / KIB ** 3).toFixed(1)} GiB/s`;
}

/** Draws a chart in one line of text. */
const BARS = [...'▁▂▃▄▅▆▇█'];

export type Point = readonly [unixS: number, value: number];

/**
 * Covers `startS` to `endS` in at most `width` bars, scaled from zero to the highest mean. A gap is a space.
 */
function sparkline(
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
  const top = BARS.length - 1;
  const barFor = (mean: number) =>
    BARS[highest === 0 ? 0 : Math.min(top, Math.floor((mean / highest) * BARS.length))];
  return means.map((mean) => (mean === null ? ' ' : barFor(mean))).join('');
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
