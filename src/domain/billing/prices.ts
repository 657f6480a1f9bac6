/**
 * Prices that the operator announces for existing servers. A server keeps the price of its deploy until a
 * price is announced for its plan, at least 30 days in advance. Cycles that begin after that date cost the
 * new price. The catalog alone sets the price of new orders: an announcement does not change it, or affect
 * servers ordered later.
 */
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { formatCents, parseUnits } from '../../kernel/money.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { DAY_MS, formatRfc3339, parseRfc3339 } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import {
  cancelPriceChange,
  insertPriceChange,
  listPriceChanges,
  lockPriceChange,
  type PriceChangeRow,
} from '../../store/billing/price-changes.ts';
import { findPlanPrice } from '../../store/catalogue/catalogue.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

/** The same bound as in the catalog file. */
const PRICE_MAX_CENTS = 9_999_999_99n;
const LIST_LIMIT = 200;

export interface AnnouncedPrice {
  /** `prc_…`. */
  readonly id: string;
  readonly effectiveAt: Date;
  readonly catalogueCents: bigint;
  readonly cents: bigint;
}

/**
 * Announces a price. `at` is a day or a time and defaults to the earliest possible. Rejects invalid prices
 * and dates.
 */
export async function announcePrice(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  order: { readonly plan: string; readonly usdMonth: string; readonly at?: string },
): Promise<AnnouncedPrice> {
  const cents = parsePrice(order.usdMonth);
  const now = service.clock.now();
  const effectiveAt = parseEffectiveDate(order.at, now);
  const row = {
    id: newId(now),
    plan_id: order.plan,
    price_cents_month: cents,
    announced_at: now,
    effective_at: effectiveAt,
  };
  const catalogueCents = await service.db.transaction(async (tx) => {
    const old = await findPlanPrice(tx, order.plan);
    if (old === undefined)
      throw new OperatorError(`plan ${order.plan} not found: the catalog lists all plans`);
    if (!(await insertPriceChange(tx, { ...row, old_price_cents_month: old }))) {
      throw new OperatorError(
        `a price for ${order.plan} is already announced for ${formatRfc3339(effectiveAt)}: cancel it first`,
      );
    }
    const resource = formatId('priceChange', row.id);
    await recordAudit(tx, { actor: systemActor(now), action: 'price.announce', resource }, now);
    return old;
  });
  service.wake();
  return { id: formatId('priceChange', row.id), effectiveAt, catalogueCents, cents };
}

/** Returns cents, or fails with an OperatorError. */
export function parsePrice(text: string): bigint {
  const cents = parseUnits(text.trim(), 2) ?? 0n;
  if (cents > 0n && cents <= PRICE_MAX_CENTS) return cents;
  throw new OperatorError(
    'the price must be in US dollars per month, above 0, with at most 2 decimals, such as 12.50',
  );
}

function parseEffectiveDate(text: string | undefined, now: Date): Date {
  const earliest = new Date(now.getTime() + LIMITS.priceNoticeDays * DAY_MS);
  if (text === undefined) return earliest;
  const at = parseRfc3339(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (!at) {
    const day = formatRfc3339(new Date(earliest.getTime() + DAY_MS)).slice(0, 10);
    throw new OperatorError(`--at must be a day such as ${day}, or a time such as ${day}T00:00:00Z`);
  }
  if (at < earliest) {
    throw new OperatorError(
      `a price must be announced at least ${LIMITS.priceNoticeDays} days ahead: the earliest is ` +
        `${formatRfc3339(earliest)}`,
    );
  }
  if (at.getTime() - now.getTime() > LIMITS.priceNoticeMaxDays * DAY_MS) {
    throw new OperatorError(`a price can be announced at most ${LIMITS.priceNoticeMaxDays} days ahead`);
  }
  return at;
}

/** The state of an announcement. */
export type PriceState = 'announced' | 'in force' | 'cancelled';

export interface ListedPrice extends PriceChangeRow {
  readonly shownId: string;
  readonly state: PriceState;
  readonly catalogue_cents_month: bigint;
}

/** Returns the newest announcements. */
export async function listPrices(service: Pick<Service, 'db' | 'clock'>): Promise<ListedPrice[]> {
  const now = service.clock.now();
  const rows = await listPriceChanges(service.db, LIST_LIMIT);
  return rows.map((row) => ({
    ...row,
    shownId: formatId('priceChange', row.id),
    state: priceState(row, now),
  }));
}

function priceState(row: PriceChangeRow, now: Date): PriceState {
  if (row.cancelled_at !== null) return 'cancelled';
  return row.effective_at <= now ? 'in force' : 'announced';
}

/**
 * Cancels an announcement that is not in effect yet. Customers who were notified of it are not notified
 * again.
 */
export async function cancelPrice(
  service: Pick<Service, 'db' | 'clock'>,
  shownId: string,
  /** Only an announcement for this plan. */
  plan?: string,
): Promise<void> {
  const now = service.clock.now();
  const id = parseId('priceChange', shownId) ?? throwPriceNotFound();
  await service.db.transaction(async (tx) => {
    const row = (await lockPriceChange(tx, id)) ?? throwPriceNotFound();
    if (plan !== undefined && row.plan_id !== plan) throwPriceNotFound();
    if (row.cancelled_at !== null) throw new OperatorError('the announcement is already canceled');
    if (row.effective_at <= now) {
      throw new OperatorError(
        `the price has been in effect since ${formatRfc3339(row.effective_at)}: announce another price, ` +
          `such as the previous ${formatCents(row.old_price_cents_month)}`,
      );
    }
    await cancelPriceChange(tx, id, now);
    await recordAudit(tx, { actor: systemActor(now), action: 'price.cancel', resource: shownId }, now);
  });
}

function throwPriceNotFound(): never {
  throw new OperatorError('announcement not found: `skerryd prices list` shows the ids');
}
