/**
 * The transparency report: legal orders by half-year, in counts without any text. A switch publishes it, and
 * another one also counts orders whose gag is in force.
 */
import { fail } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import {
  LEGAL_ORDER_KINDS,
  LEGAL_STATES,
  REPORT_FIGURES,
  REPORTED_HALF_YEARS,
  type ReportFigure,
} from '../../../spec/staff/legal.ts';
import {
  type CountedOrders,
  countOrders,
  type OrderCountRow,
  sumOrders,
} from '../../../store/staff/legal.ts';
import type { Service } from '../../context.ts';
import { isSwitchOn } from '../../rules/switches.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

type FigureRow = { readonly half: string } & { readonly [Figure in ReportFigure]?: number };

/** Each counts some of the figures by half-year. */
const FIGURE_COUNTS: readonly ((sql: Sql, counted: CountedOrders) => Promise<readonly FigureRow[]>)[] = [
  sumOrders,
];

export type TransparencyReport = Awaited<ReturnType<typeof readReport>>;

/** As customers see it, whether it is published or not. The newest half-year comes first. */
export async function readReport({ db, clock }: Deps) {
  const now = clock.now();
  const gagged = await isSwitchOn(db, 'transparency-gagged');
  const halves = halfYearsUntil(now);
  const since = halves.at(-1)?.from ?? now;
  const counted = { since, now, gagged };
  const orders = await countOrders(db, counted);
  const figures = (await Promise.all(FIGURE_COUNTS.map((count) => count(db, counted)))).flat();
  return {
    object: 'transparency_report' as const,
    published: await isSwitchOn(db, 'transparency'),
    counts_gagged: gagged,
    half_years: halves.map(({ half, from }, index) => ({
      half,
      from: from.toISOString().slice(0, 10),
      /** It has not ended. */
      current: index === 0,
      orders: ordersOf(orders.filter((row) => row.half === half)),
      figures: figuresOf(figures.filter((row) => row.half === half)),
    })),
  };
}

/** Fails with `not_found` unless it is published. */
export async function readPublishedReport(service: Deps): Promise<TransparencyReport> {
  const report = await readReport(service);
  return report.published ? report : fail('not_found');
}

/** By kind, and their sum: how many were received, and how many of them have each state now. */
function ordersOf(rows: readonly OrderCountRow[]) {
  const all = LEGAL_ORDER_KINDS.map((kind) =>
    statesOf(
      kind,
      rows.filter((row) => row.kind === kind),
    ),
  );
  return [...all.filter(({ received }) => received > 0), statesOf('all' as const, rows)];
}

function statesOf<Kind extends string>(kind: Kind, rows: readonly OrderCountRow[]) {
  const sum = (some: readonly OrderCountRow[]) => some.reduce((total, { n }) => total + n, 0);
  const states = LEGAL_STATES.map((state) => [state, sum(rows.filter((row) => row.state === state))]);
  return {
    kind,
    received: sum(rows),
    states: Object.fromEntries(states) as Record<(typeof LEGAL_STATES)[number], number>,
  };
}

function figuresOf(rows: readonly FigureRow[]): Readonly<Record<ReportFigure, number>> {
  const names = Object.keys(REPORT_FIGURES) as ReportFigure[];
  const totalOf = (name: ReportFigure) => rows.reduce((total, row) => total + (row[name] ?? 0), 0);
  return Object.fromEntries(names.map((name) => [name, totalOf(name)])) as Record<ReportFigure, number>;
}

/** The newest first. */
function halfYearsUntil(now: Date): { readonly half: string; readonly from: Date }[] {
  const last = now.getUTCFullYear() * 2 + (now.getUTCMonth() < 6 ? 0 : 1);
  return Array.from({ length: REPORTED_HALF_YEARS }, (_, back) => {
    const [year, second] = [Math.floor((last - back) / 2), (last - back) % 2];
    return { half: `${year}-${second + 1}`, from: new Date(Date.UTC(year, second * 6, 1)) };
  });
}
