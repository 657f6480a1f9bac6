/**
 * Prices that the operator announces for servers that there are. A server keeps the price of its deploy until one is
 * announced for its plan, at least 30 days before it counts; cycles that begin from then on cost the new one. What new
 * orders cost is the catalogue's alone: an announcement changes nothing there, and touches no server ordered after it.
 */
import { newId, readId, showId } from '../../kernel/ids.ts';
import { centsText, parseUnits } from '../../kernel/money.ts';
import { Refusal } from '../../kernel/refusal.ts';
import { DAY_MS, parseRfc3339, rfc3339 } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { findPlanPrice } from '../../store/catalogue.ts';
import {
  cancelPriceChange,
  insertPriceChange,
  listPriceChanges,
  lockPriceChange,
  type PriceChangeRow,
} from '../../store/price-changes.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

/** As the catalogue's file bounds it. */
const PRICE_MAX_CENTS = 9_999_999_99n;
const LIST_LIMIT = 200;

export interface Announced {
  /** `prc_…`. */
  readonly id: string;
  readonly effectiveAt: Date;
  readonly catalogueCents: bigint;
  readonly cents: bigint;
}

/** Announces it now; `at`: a day or a time, the earliest possible when left out. Refuses what is sooner, or no price. */
export async function announcePrice(
  service: Pick<Service, 'db' | 'clock' | 'wake'>,
  order: { readonly plan: string; readonly usdMonth: string; readonly at?: string },
): Promise<Announced> {
  const cents = parseUnits(order.usdMonth, 2) ?? 0n;
  if (cents <= 0n || cents > PRICE_MAX_CENTS) {
    throw new Refusal('the price is US dollars a month, above 0, with at most two decimals, such as 12.50');
  }
  const now = service.clock.now();
  const effectiveAt = readMoment(order.at, now);
  const row = {
    id: newId(now),
    plan_id: order.plan,
    price_cents_month: cents,
    announced_at: now,
    effective_at: effectiveAt,
  };
  const catalogueCents = await service.db.transaction(async (tx) => {
    const old = await findPlanPrice(tx, order.plan);
    if (old === undefined) throw new Refusal(`there is no plan ${order.plan}: the catalogue names them`);
    if (!(await insertPriceChange(tx, { ...row, old_price_cents_month: old }))) {
      throw new Refusal(
        `another price of ${order.plan} is announced for ${rfc3339(effectiveAt)}: cancel that one first`,
      );
    }
    const resource = showId('priceChange', row.id);
    await recordAudit(tx, { actor: systemActor(now), action: 'price.announce', resource }, now);
    return old;
  });
  service.wake();
  return { id: showId('priceChange', row.id), effectiveAt, catalogueCents, cents };
}

function readMoment(text: string | undefined, now: Date): Date {
  const earliest = new Date(now.getTime() + LIMITS.priceNoticeDays * DAY_MS);
  if (text === undefined) return earliest;
  const at = parseRfc3339(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (!at) {
    const day = rfc3339(new Date(earliest.getTime() + DAY_MS)).slice(0, 10);
    throw new Refusal(`--at is a day such as ${day}, or a time such as ${day}T00:00:00Z`);
  }
  if (at < earliest) {
    throw new Refusal(
      `a price is announced at least ${LIMITS.priceNoticeDays} days ahead: the earliest is ${rfc3339(earliest)}`,
    );
  }
  if (at.getTime() - now.getTime() > LIMITS.priceAheadMaxDays * DAY_MS) {
    throw new Refusal(`a price is announced at most ${LIMITS.priceAheadMaxDays} days ahead`);
  }
  return at;
}

/** Where an announcement stands. */
export type PriceState = 'announced' | 'in force' | 'cancelled';

export interface ShownPrice extends PriceChangeRow {
  readonly shownId: string;
  readonly state: PriceState;
  readonly catalogue_cents_month: bigint;
}

/** The newest announcements. */
export async function listPrices(service: Pick<Service, 'db' | 'clock'>): Promise<ShownPrice[]> {
  const now = service.clock.now();
  const rows = await listPriceChanges(service.db, LIST_LIMIT);
  return rows.map((row) => ({ ...row, shownId: showId('priceChange', row.id), state: stateOf(row, now) }));
}

function stateOf(row: PriceChangeRow, now: Date): PriceState {
  if (row.cancelled_at !== null) return 'cancelled';
  return row.effective_at <= now ? 'in force' : 'announced';
}

/** Takes an announcement back that does not count yet, by its shown id. Customers who were told of it are not told again. */
export async function cancelPrice(service: Pick<Service, 'db' | 'clock'>, shownId: string): Promise<void> {
  const now = service.clock.now();
  const id = readId('priceChange', shownId) ?? noSuchPrice();
  await service.db.transaction(async (tx) => {
    const row = (await lockPriceChange(tx, id)) ?? noSuchPrice();
    if (row.cancelled_at !== null) throw new Refusal('it was cancelled before');
    if (row.effective_at <= now) {
      throw new Refusal(
        `it counts since ${rfc3339(row.effective_at)}: announce another one, such as the former ${centsText(row.old_price_cents_month)}`,
      );
    }
    await cancelPriceChange(tx, id, now);
    await recordAudit(tx, { actor: systemActor(now), action: 'price.cancel', resource: shownId }, now);
  });
}

function noSuchPrice(): never {
  throw new Refusal('there is no such announcement: skerryd prices list shows their ids');
}
