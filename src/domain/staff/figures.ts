/** Business figures: counted by the hour, and read for a period. */
import { centsToUsd } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, formatRfc3339, HOUR_MS } from '../../kernel/time.ts';
import {
  FIGURE_NAMES,
  FIGURE_PERIODS,
  FIGURES,
  FIGURES_KEPT_DAYS,
  type FigureName,
  type FigurePeriod,
} from '../../spec/staff/figures.ts';
import { savePlanPayers } from '../../store/billing/price-changes.ts';
import {
  type FigureRow,
  findLastFigureHour,
  listFigures,
  saveFlows,
  saveLevels,
} from '../../store/service/figures.ts';
import type { Service } from '../context.ts';
import { formatCsv } from './csv.ts';

/** Hours per statement when it catches up. */
const BATCH_HOURS = 7 * 24;

const hourOf = (time: Date) => new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS);

/**
 * Counts from the hour before the last measured one: a commit may have come late. The first run counts as far
 * back as figures are kept.
 */
export async function* measureFigures({ db, clock }: Pick<Service, 'db' | 'clock'>): AsyncGenerator<number> {
  const now = clock.now();
  const hour = hourOf(now);
  const oldest = hour.getTime() - FIGURES_KEPT_DAYS * DAY_MS;
  const last = await findLastFigureHour(db);
  const until = hour.getTime() + HOUR_MS;
  let from = Math.max(oldest, last === null ? oldest : last.getTime() - HOUR_MS);
  while (from < until) {
    const next = Math.min(from + BATCH_HOURS * HOUR_MS, until);
    await saveFlows(db, { from: new Date(from), until: new Date(next) });
    yield 1;
    from = next;
  }
  await saveLevels(db, hour);
  await savePlanPayers(db, now);
  yield 1;
}

export interface FigureSeries {
  readonly name: FigureName;
  readonly title: string;
  readonly kind: 'flow' | 'level';
  readonly unit: 'usd' | 'count';
  /** A coin or a region; null: the whole. */
  readonly part: string | null;
  /** The sum of a flow; the latest level; null: not measured yet. */
  readonly total: number | null;
  /** Start times in Unix seconds, and values, oldest first. */
  readonly points: readonly (readonly [timeS: number, value: number])[];
}

export interface FiguresView {
  readonly object: 'figures';
  readonly period: FigurePeriod;
  readonly step_s: number;
  readonly start: string;
  readonly end: string;
  /** Of the servers at the start, the share that was destroyed; null: there were none. */
  readonly churn: number | null;
  readonly series: readonly FigureSeries[];
}

/** Reads the figures of a period, which ends now. */
export async function readFigures(
  { db, clock }: { readonly db: Sql; readonly clock: Service['clock'] },
  period: FigurePeriod,
): Promise<FiguresView> {
  const { hours, stepHours } = FIGURE_PERIODS[period];
  const now = clock.now();
  const stepMs = stepHours * HOUR_MS;
  // The last point is the hour, the day, or the seven days until now.
  const end = new Date(hourOf(now).getTime() + HOUR_MS);
  const start = new Date(end.getTime() - hours * HOUR_MS);
  const flows = FIGURE_NAMES.filter((name) => FIGURES[name].kind === 'flow');
  const rows = await listFigures(db, { from: start, stepHours, flows });
  const measuredFrom = rows.reduce((first, { at }) => Math.min(first, at.getTime()), end.getTime());
  const starts: number[] = [];
  for (let at = start.getTime(); at < end.getTime(); at += stepMs) if (at >= measuredFrom) starts.push(at);
  const series = FIGURE_NAMES.flatMap((name) => seriesOf(name, rows, starts));
  return {
    object: 'figures',
    period,
    step_s: stepMs / 1_000,
    start: formatRfc3339(start),
    end: formatRfc3339(end),
    churn: churnOf(series),
    series,
  };
}

/** The whole first, and then its parts. */
function seriesOf(name: FigureName, rows: readonly FigureRow[], starts: readonly number[]): FigureSeries[] {
  const mine = rows.filter((row) => row.name === name);
  const keys = 'by' in FIGURES[name] ? [...new Set(mine.map(({ key }) => key))] : [];
  return [null, ...keys].map((key) => {
    const { title, kind, unit } = FIGURES[name];
    const values = new Map<number, bigint>();
    for (const row of mine) {
      if (key !== null && row.key !== key) continue;
      values.set(row.at.getTime(), (values.get(row.at.getTime()) ?? 0n) + row.value);
    }
    const shown = (value: bigint) => (unit === 'cents' ? centsToUsd(value) : Number(value));
    const known = starts.filter((at) => kind === 'flow' || values.has(at));
    const points = known.map((at) => [at / 1_000, shown(values.get(at) ?? 0n)] as const);
    const sum = [...values.values()].reduce((total, value) => total + value, 0n);
    const total = kind === 'flow' ? shown(sum) : (points.at(-1)?.[1] ?? null);
    return { name, title, kind, unit: unit === 'cents' ? 'usd' : 'count', part: key, total, points };
  });
}

function churnOf(series: readonly FigureSeries[]): number | null {
  const whole = (name: FigureName) => series.find((row) => row.name === name && row.part === null);
  const before = whole('servers')?.points[0]?.[1] ?? 0;
  return before === 0 ? null : (whole('servers_destroyed')?.total ?? 0) / before;
}

/** One line per point: `name,part,start,value`. Amounts are in US dollars. */
export function figuresCsv({ series }: FiguresView): string {
  const rows = series.flatMap(({ name, part, points }) =>
    points.map(([timeS, value]) => [name, part, new Date(timeS * 1_000).toISOString(), value]),
  );
  return formatCsv(['figure', 'part', 'start', 'value'], rows);
}
