/**
 * A period of the ledger, such as a month: the balance at both ends and the totals in and out. Each entry
 * records the balance after it, so nothing outside the period has to be read. The ids do not order entries
 * of the same millisecond, such as a top-up and its bonus. Their balances do, because each starts where
 * another ended.
 */
import { fail } from '../../kernel/fail.ts';
import { centsToUsd } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import {
  type PeriodEdgeRow,
  readBalanceBefore,
  readPeriodEdge,
  sumPeriod,
} from '../../store/ledger/periods.ts';
import type { CustomerActor } from '../context.ts';

/** Covers `from` (inclusive) to `to` (exclusive). */
export interface LedgerPeriod {
  readonly from: string;
  readonly to: string;
  readonly opening_usd: number;
  readonly closing_usd: number;
  readonly in_usd: number;
  /** Zero or below. */
  readonly out_usd: number;
}

export async function getLedgerPeriod(
  { db }: { readonly db: Sql },
  { customerId }: Pick<CustomerActor, 'customerId'>,
  span: { readonly from: Date; readonly to: Date },
): Promise<LedgerPeriod> {
  const [edge, { in_cents: inCents, out_cents: outCents }] = await Promise.all([
    readPeriodEdge(db, customerId, span.from),
    sumPeriod(db, customerId, span),
  ]);
  const openingCents =
    balanceAtEdge(edge) ?? (await readBalanceBefore(db, customerId, span.from)) ?? fail('not_found');
  return {
    from: formatRfc3339(span.from),
    to: formatRfc3339(span.to),
    opening_usd: centsToUsd(openingCents),
    closing_usd: centsToUsd(openingCents + inCents + outCents),
    in_usd: centsToUsd(inCents),
    out_usd: centsToUsd(outCents),
  };
}

/** Returns the balance between the entries on both sides, or undefined if they do not determine one. */
function balanceAtEdge(edge: readonly PeriodEdgeRow[]): bigint | undefined {
  const before = edge.filter(({ later }) => later === false);
  const after = edge.filter(({ later }) => later === true);
  const ends =
    before.length === 0
      ? [0n]
      : findWalkEnds(before.map(({ before_cents, after_cents }) => [before_cents, after_cents]));
  const begins =
    after.length === 0
      ? edge.slice(0, 1).map((row) => row.balance_cents)
      : findWalkEnds(after.map(({ before_cents, after_cents }) => [after_cents, before_cents]));
  const [agreed, ...others] = ends.filter((cents) => begins.includes(cents));
  return others.length === 0 ? agreed : undefined;
}

/**
 * Returns the end of a walk over these steps, in any order: the balance that is reached once more than it
 * is left. Returns all balances if the walk is closed.
 */
function findWalkEnds(steps: readonly (readonly [from: bigint, to: bigint])[]): bigint[] {
  const netArrivals = new Map<bigint, number>();
  for (const [from, to] of steps) {
    netArrivals.set(from, (netArrivals.get(from) ?? 0) - 1);
    netArrivals.set(to, (netArrivals.get(to) ?? 0) + 1);
  }
  const ends = [...netArrivals].filter(([, more]) => more > 0);
  if (ends.length === 0) return [...netArrivals.keys()];
  return ends.length === 1 ? ends.map(([cents]) => cents) : [];
}
