/**
 * A span of the ledger, such as a month: the balance at both ends, and what came and went. Each booking says what the balance was
 * after it, so nothing outside the span has to be read. But of several bookings of one millisecond, as of a top-up and its
 * bonus, the ids do not tell which was the last: their balances do, since each begins where another ended.
 */
import { fail } from '../../kernel/fail.ts';
import { centsNumber } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { rfc3339 } from '../../kernel/time.ts';
import { countBack, type EdgeRow, readEdge, sumSpan } from '../../store/spans.ts';
import type { CustomerActor } from '../context.ts';

/** From `from` until just before `to`. */
export interface Span {
  readonly from: string;
  readonly to: string;
  readonly opening_usd: number;
  readonly closing_usd: number;
  readonly in_usd: number;
  /** Zero or below. */
  readonly out_usd: number;
}

export async function getSpan(
  { db }: { readonly db: Sql },
  { customerId }: Pick<CustomerActor, 'customerId'>,
  span: { readonly from: Date; readonly to: Date },
): Promise<Span> {
  const [edge, { in_cents: inCents, out_cents: outCents }] = await Promise.all([
    readEdge(db, customerId, span.from),
    sumSpan(db, customerId, span),
  ]);
  const openingCents = balanceAt(edge) ?? (await countBack(db, customerId, span.from)) ?? fail('not_found');
  return {
    from: rfc3339(span.from),
    to: rfc3339(span.to),
    opening_usd: centsNumber(openingCents),
    closing_usd: centsNumber(openingCents + inCents + outCents),
    in_usd: centsNumber(inCents),
    out_usd: centsNumber(outCents),
  };
}

/** The balance between the bookings on both sides, where they tell: undefined where they do not agree on one. */
function balanceAt(edge: readonly EdgeRow[]): bigint | undefined {
  const before = edge.filter(({ later }) => later === false);
  const after = edge.filter(({ later }) => later === true);
  const ends =
    before.length === 0
      ? [0n]
      : lastOf(before.map(({ before_cents, after_cents }) => [before_cents, after_cents]));
  const begins =
    after.length === 0
      ? edge.slice(0, 1).map((row) => row.balance_cents)
      : lastOf(after.map(({ before_cents, after_cents }) => [after_cents, before_cents]));
  const [agreed, ...others] = ends.filter((cents) => begins.includes(cents));
  return others.length === 0 ? agreed : undefined;
}

/** Where a walk of these steps ends, by whatever order: where it comes once more than it leaves. Any, if it ends where it began. */
function lastOf(steps: readonly (readonly [from: bigint, to: bigint])[]): bigint[] {
  const comes = new Map<bigint, number>();
  for (const [from, to] of steps) {
    comes.set(from, (comes.get(from) ?? 0) - 1);
    comes.set(to, (comes.get(to) ?? 0) + 1);
  }
  const ends = [...comes].filter(([, more]) => more > 0);
  if (ends.length === 0) return [...comes.keys()];
  return ends.length === 1 ? ends.map(([cents]) => cents) : [];
}
