/** Reads invoices for the APIs: one, a page, and the shapes that customers see. */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { centsToUsd, formatUnits } from '../../kernel/money.ts';
import { formatRfc3339, formatSessionTime } from '../../kernel/time.ts';
import { getCoin as coinOf } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Topup } from '../../spec/schemas/topup.ts';
import { type SessionTopupStatus, sessionTopupStatus } from '../../spec/states.ts';
import { findPaidTopup, findTopupByRef, pageTopups, type TopupRow } from '../../store/topups/topups.ts';
import type { CustomerActor, Service } from '../context.ts';

/** Returns the customer's own invoice. Unknown references and other customers' are both `not_found`. */
export async function findTopup(
  service: Pick<Service, 'db'>,
  customerId: string,
  orderRef: string,
): Promise<TopupRow> {
  return (await findTopupByRef(service.db, customerId, orderRef)) ?? notFound('topup');
}

/** Unknown, malformed, and another customer's ids are all `not_found`. */
export async function getTopup(service: Service, actor: CustomerActor, shownId: string): Promise<Topup> {
  const id = parseId('topup', shownId) ?? notFound('topup');
  const { row, txids } = (await findPaidTopup(service.reads, actor.customerId, id)) ?? notFound('topup');
  return topupObject(row, txids);
}

export async function listTopups(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<Topup>> {
  const { rows, next } = await pageTopups(service.db, actor.customerId, page);
  return { items: rows.map(({ row, txids }) => topupObject(row, txids)), next };
}

/**
 * Returns the REST shape. `txids` are the transactions on chain or in the mempool, oldest first, up to a
 * limit.
 */
export function topupObject(row: TopupRow, txids: readonly string[]): Topup {
  return {
    id: formatId('topup', row.id),
    object: 'topup',
    status: row.status,
    coin: row.coin,
    network: coinOf(row.coin).network,
    amount_usd: centsToUsd(row.amount_cents),
    bonus_usd: centsToUsd(row.credited_cents > 0n ? row.bonus_paid_cents : row.bonus_cents),
    deposit_address: row.deposit_address,
    deposit_amount: depositAmount(row),
    payment_uri: row.deposit_uri,
    rate_usd: row.rate_usd,
    expires_at: formatRfc3339(row.expires_at),
    confirmations: row.confirmations,
    required_confirmations: row.required_confirmations,
    txids: [...new Set(txids)].slice(0, LIMITS.topupTxidsMax),
    credited_usd: centsToUsd(row.credited_cents),
    reversed_usd: centsToUsd(row.reversed_cents),
    credit_held: row.credit_held,
    created_at: formatRfc3339(row.created_at),
  };
}

/** The response of the session API's status poll (SPEC "Top-up invoice, as returned by the status poll"). */
export interface TopupView {
  readonly status: SessionTopupStatus;
  readonly deposit_address: string;
  readonly deposit_amount: string;
  readonly expires_at: string;
}

export function topupView(row: TopupRow): TopupView {
  return {
    status: sessionTopupStatus({
      status: row.status,
      cancelled: row.cancelled_at !== null,
      withheld: row.credit_held,
    }),
    deposit_address: row.deposit_address,
    deposit_amount: depositAmount(row),
    expires_at: formatSessionTime(row.expires_at),
  };
}

/**
 * Returns the status for the billing tab and payment page: a withheld payment is an `error` (SPEC,
 * kill-switch).
 */
export function shownTopupStatus(row: TopupRow): SessionTopupStatus {
  return row.credit_held ? 'error' : topupView(row).status;
}

function depositAmount(row: TopupRow): string {
  return formatUnits(row.deposit_units, coinOf(row.coin).decimals);
}
