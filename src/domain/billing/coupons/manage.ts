/** Coupons as staff create, read, and end them. */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../../kernel/ids.ts';
import { centsToUsd, formatCents, parseUnits } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, formatRfc3339, parseRfc3339 } from '../../../kernel/time.ts';
import { COUPON_LIMITS, type CouponState, normalizeCouponCode } from '../../../spec/staff/coupons.ts';
import {
  type CouponRow,
  endCoupon as endRow,
  findCoupon,
  findCouponByCode,
  insertCoupon,
  listRedemptions,
  listCoupons as listRows,
} from '../../../store/billing/coupons.ts';
import type { Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

export interface CouponOrder {
  /** Not `code`: that is a one-time code of the person. */
  readonly coupon_code: string;
  readonly amount_usd: string;
  readonly max_uses: number;
  /** The last day in UTC, or a time. Default: never. */
  readonly expires?: string;
  /** Only for accounts younger than this. Default: for all. */
  readonly account_days?: number;
  /** For staff. */
  readonly note?: string;
}

export type CouponObject = ReturnType<typeof toCouponObject>;
export type CouponWithUses = Awaited<ReturnType<typeof readCoupon>>;

/** Fails with `invalid_request` or `conflict_state`. */
export async function createCoupon(service: Deps, order: CouponOrder): Promise<CouponObject> {
  const now = service.clock.now();
  const row = { ...parseOrder(order, now), id: newId(now), uses: 0, created_at: now, ended_at: null };
  await service.db.transaction(async (tx) => {
    if (!(await insertCoupon(tx, row))) {
      fail('conflict_state', { field: 'coupon_code' }, 'A coupon has this code, or had it.');
    }
    const resource = formatId('coupon', row.id);
    await recordAudit(tx, { actor: systemActor(now), action: 'coupon.create', resource }, now);
  });
  return toCouponObject(row, now);
}

/** Refuses an order that no one could create, before a second person sees it. */
export function checkCoupon({ clock }: Pick<Deps, 'clock'>, order: CouponOrder): void {
  parseOrder(order, clock.now());
}

/** The most that the coupon can cost, in dollars: what a rule of approval compares. */
export function couponCost({ amount_usd: amount, max_uses: uses }: CouponOrder): string {
  const cents = parseUnits(amount, 2);
  return cents === undefined ? amount : formatCents(cents * BigInt(uses));
}

function parseOrder(order: CouponOrder, now: Date) {
  const code = normalizeCouponCode(order.coupon_code);
  if (code === undefined) {
    const { codeMinChars: min, codeMaxChars: max } = COUPON_LIMITS;
    const message = `A code has ${min} to ${max} letters, digits, and dashes. It does not begin with a dash.`;
    invalidRequest([{ field: 'coupon_code', issue: 'invalid_format' }], message);
  }
  const cents = parseUnits(order.amount_usd, 2) ?? 0n;
  if (cents <= 0n || cents > COUPON_LIMITS.amountMaxCents) {
    const message = `Enter an amount above 0, up to ${formatCents(COUPON_LIMITS.amountMaxCents)} USD.`;
    invalidRequest([{ field: 'amount_usd', issue: 'invalid_value' }], message);
  }
  const note = order.note?.trim() ?? '';
  if (/\p{C}/u.test(note)) {
    invalidRequest([{ field: 'note', issue: 'invalid_format' }], 'Enter the note on one line.');
  }
  return {
    code,
    note,
    amount_cents: cents,
    max_uses: order.max_uses,
    expires_at: parseExpiry(order.expires?.trim() ?? '', now),
    account_days: order.account_days ?? null,
  };
}

/** A day lasts until its end. */
function parseExpiry(text: string, now: Date): Date | null {
  if (text === '') return null;
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseRfc3339(`${text}T00:00:00Z`) : undefined;
  const at = day ? new Date(day.getTime() + DAY_MS) : parseRfc3339(text);
  if (at && at > now) return at;
  const example = formatRfc3339(new Date(now.getTime() + 30 * DAY_MS)).slice(0, 10);
  const message = `Enter a day in the future such as ${example}, or a time such as ${example}T12:00:00Z.`;
  return invalidRequest([{ field: 'expires', issue: 'invalid_value' }], message);
}

/** Newest first, and whether there are more. */
export async function listCoupons(
  { db, clock }: Deps,
  query: { readonly before?: string; readonly limit: number },
): Promise<{ readonly coupons: CouponObject[]; readonly hasMore: boolean }> {
  const { before, limit } = query;
  const beforeId = before === undefined ? null : parseId('coupon', before);
  if (beforeId === undefined) return { coupons: [], hasMore: false };
  const rows = await listRows(db, { beforeId, limit: limit + 1 });
  const now = clock.now();
  return {
    coupons: rows.slice(0, limit).map((row) => toCouponObject(row, now)),
    hasMore: rows.length > limit,
  };
}

/** Fails with `not_found`. */
export async function readCoupon({ db, clock }: Deps, id: string) {
  const row = await requireCoupon(db, id);
  const redemptions = await listRedemptions(db, row.id, COUPON_LIMITS.redemptionsShown);
  return {
    ...toCouponObject(row, clock.now()),
    redemptions: redemptions.map((use) => ({
      customer: use.email,
      customer_id: formatId('customer', use.customer_id),
      redeemed_at: formatRfc3339(use.redeemed_at),
    })),
  };
}

/** No one can use it from now on. What was credited stays. Fails with `not_found` or `conflict_state`. */
export async function endCoupon(service: Deps, id: string): Promise<void> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const row = await requireCoupon(tx, id);
    if (!(await endRow(tx, row.id, now))) fail('conflict_state', {}, 'This coupon has ended.');
    const resource = formatId('coupon', row.id);
    await recordAudit(tx, { actor: systemActor(now), action: 'coupon.end', resource }, now);
  });
}

/** Returns `cpn_…` of a coupon that a command names by its code. Fails with `not_found`. */
export async function findCouponId({ db }: Pick<Deps, 'db'>, name: string): Promise<string> {
  if (parseId('coupon', name) !== undefined) return name;
  const code = normalizeCouponCode(name);
  const row = code === undefined ? undefined : await findCouponByCode(db, code);
  return row ? formatId('coupon', row.id) : unknownCoupon();
}

/** By id only: a code is in no URL, and so in no log of requests. */
async function requireCoupon(db: Sql, name: string): Promise<CouponRow> {
  const id = parseId('coupon', name);
  return (id && (await findCoupon(db, id))) || unknownCoupon();
}

function unknownCoupon(): never {
  return fail('not_found', {}, 'No such coupon.');
}

function toCouponObject(row: CouponRow, now: Date) {
  return {
    object: 'coupon' as const,
    id: formatId('coupon', row.id),
    code: row.code,
    state: stateOf(row, now),
    amount_usd: centsToUsd(row.amount_cents),
    uses: row.uses,
    max_uses: row.max_uses,
    credited_usd: centsToUsd(row.amount_cents * BigInt(row.uses)),
    expires_at: row.expires_at && formatRfc3339(row.expires_at),
    account_days: row.account_days,
    note: row.note,
    created_at: formatRfc3339(row.created_at),
    ended_at: row.ended_at && formatRfc3339(row.ended_at),
  };
}

function stateOf(row: CouponRow, now: Date): CouponState {
  if (row.ended_at !== null) return 'ended';
  if (row.expires_at !== null && row.expires_at <= now) return 'expired';
  return row.uses >= row.max_uses ? 'used_up' : 'active';
}
