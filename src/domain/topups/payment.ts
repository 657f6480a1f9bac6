/** An invoice as its payer sees it: the payments received, their worth, and the remaining amount. */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { centsToUsd, coinUnitsDue, formatUnits } from '../../kernel/money.ts';
import { formatRfc3339, HOUR_MS } from '../../kernel/time.ts';
import { getCoin as coinOf } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Topup } from '../../spec/schemas/topup.ts';
import type { ReversalFate, SessionTopupStatus } from '../../spec/states.ts';
import { type DepositRow, listDeposits } from '../../store/topups/deposits.ts';
import { findPaidTopup, pageTopups, type TopupRow } from '../../store/topups/topups.ts';
import type { CustomerActor, Service } from '../context.ts';
import { findTopup, shownTopupStatus, topupObject } from './read.ts';
import { shownConfirmations } from './settlement/deposit.ts';
import { isLate, isUnpriced, worthCents } from './settlement/pricing.ts';
import { hasArrived, reversalFate } from './settlement/status.ts';

/** One payment of an invoice. */
export interface PaymentPart {
  readonly txid: string;
  readonly amount: string;
  /** `gone`: no longer on the chain. `refunded`: sent back by the operator. */
  readonly state: 'seen' | 'confirming' | 'credited' | 'held' | 'refunded' | 'gone';
  readonly confirmations: number;
  /** Whether its block came after the locked rate ended, so that a later rate applies. */
  readonly late: boolean;
  /** Null: late, and without a rate yet. */
  readonly rate_usd: string | null;
  /** The amount credited for it; null: none. */
  readonly credited_usd: number | null;
  readonly first_seen_at: string;
}

export interface PaymentView {
  readonly topup: Topup;
  readonly order_ref: string;
  readonly status: SessionTopupStatus;
  /** Oldest first, up to PARTS_MAX. */
  readonly parts: readonly PaymentPart[];
  readonly more_parts: number;
  /** Coins on the chain or in the mempool; null: none. */
  readonly received: string | null;
  readonly received_usd: number;
  readonly bonus_paid_usd: number;
  /** The underpayment; `amount` is the rest at the locked rate, or null after the lock has ended. */
  readonly missing: { readonly usd: number; readonly amount: string | null } | null;
  readonly over_usd: number;
  /** The amount taken back because a payment left its block, if it has not been credited again. */
  readonly taken_back: { readonly usd: number; readonly at: string; readonly fate: ReversalFate } | null;
  /** A payment in a block by this time has the locked rate. */
  readonly counts_until: string;
  /** Until `expires_at`; 0 if it has passed. */
  readonly left_ms: number;
}

/** Dust is cheap, so bound the length of the page. */
const PARTS_MAX = 30;

/** Returns a payment by its public id. Unknown, malformed, and another customer's ids are `not_found`. */
export async function getPayment(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<PaymentView> {
  const id = parseId('topup', shownId) ?? notFound('topup');
  const { row } = (await findPaidTopup(service.db, actor.customerId, id)) ?? notFound('topup');
  return await buildPaymentView(service, row);
}

/** Returns a payment by its order reference, as in the session API. */
export async function getPaymentByRef(
  service: Service,
  actor: CustomerActor,
  orderRef: string,
): Promise<PaymentView> {
  return await buildPaymentView(service, await findTopup(service, actor.customerId, orderRef));
}

/** Returns a page of the customer's invoices with the status shown in the billing tab and payment page. */
export async function listInvoices(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<{ topup: Topup; status: SessionTopupStatus }>> {
  const { rows, next } = await pageTopups(service.db, actor.customerId, page);
  const items = rows.map(({ row, txids }) => ({
    topup: topupObject(row, txids),
    status: shownTopupStatus(row),
  }));
  return { items, next };
}

async function buildPaymentView(service: Service, row: TopupRow): Promise<PaymentView> {
  const now = service.clock.now();
  const deposits = await listDeposits(service.db, row.id);
  const arrived = deposits.filter(hasArrived);
  const txids = arrived.map((deposit) => deposit.txid);
  const units = arrived.reduce((sum, deposit) => sum + deposit.amount_units, 0n);
  const worth = worthCents(row, arrived);
  const countsUntil = new Date(row.expires_at.getTime() + LIMITS.rateLockGraceHours * HOUR_MS);
  return {
    topup: topupObject(row, txids),
    order_ref: row.order_ref,
    status: shownTopupStatus(row),
    parts: deposits.slice(0, PARTS_MAX).map((deposit) => buildPaymentPart(row, deposit)),
    more_parts: Math.max(0, deposits.length - PARTS_MAX),
    received: arrived.length === 0 ? null : formatCoins(row, units),
    received_usd: centsToUsd(worth),
    bonus_paid_usd: centsToUsd(row.bonus_paid_cents),
    missing: arrived.length === 0 ? null : missingAmount(row, { arrived, units, worth }, now <= countsUntil),
    over_usd: centsToUsd(worth > row.amount_cents ? worth - row.amount_cents : 0n),
    taken_back: row.reversed_at && {
      usd: centsToUsd(row.reversed_cents),
      at: formatRfc3339(row.reversed_at),
      fate: reversalFate(row, deposits),
    },
    counts_until: formatRfc3339(countsUntil),
    left_ms: Math.max(0, row.expires_at.getTime() - now.getTime()),
  };
}

/**
 * Returns the rest of the invoice. While all payments were in time, it completes the exact amount in coin
 * units.
 */
function missingAmount(
  row: TopupRow,
  paid: { readonly arrived: readonly DepositRow[]; readonly units: bigint; readonly worth: bigint },
  isRateLocked: boolean,
): PaymentView['missing'] {
  const cents = row.amount_cents - paid.worth;
  if (cents <= 0n) return null;
  const inTime = paid.arrived.every((deposit) => !isLate(row, deposit.included_at));
  const units = inTime
    ? row.deposit_units - paid.units
    : coinUnitsDue(cents, row.rate_usd, coinOf(row.coin).decimals);
  return { usd: centsToUsd(cents), amount: isRateLocked ? formatCoins(row, units) : null };
}

function buildPaymentPart(row: TopupRow, deposit: DepositRow): PaymentPart {
  const late = isLate(row, deposit.included_at);
  const { credited_cents: cents } = deposit;
  return {
    txid: deposit.txid,
    amount: formatCoins(row, deposit.amount_units),
    state: paymentState(deposit),
    confirmations: shownConfirmations(deposit),
    late,
    rate_usd:
      cents === null && isUnpriced(row, deposit) ? null : (late && deposit.rate_at_inclusion) || row.rate_usd,
    credited_usd: cents === null ? null : centsToUsd(cents),
    first_seen_at: formatRfc3339(deposit.first_seen_at),
  };
}

function paymentState(deposit: DepositRow): PaymentPart['state'] {
  if (deposit.refunded_at !== null) return 'refunded';
  if (!hasArrived(deposit)) return 'gone';
  if (deposit.credited_cents !== null) return 'credited';
  if (deposit.held) return 'held';
  return deposit.state === 'mempool' ? 'seen' : 'confirming';
}

function formatCoins(row: TopupRow, units: bigint): string {
  return formatUnits(units, coinOf(row.coin).decimals);
}
