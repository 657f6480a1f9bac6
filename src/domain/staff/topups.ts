/** Top-ups, their payments, and their refunds as staff read them. */
import { formatId } from '../../kernel/ids.ts';
import { centsToUsd, formatUnits } from '../../kernel/money.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { type CoinCode, getCoin } from '../../spec/coins.ts';
import type { DepositOutcome } from '../../spec/staff/payments.ts';
import type { DepositRow } from '../../store/topups/deposits.ts';
import type { OperatorTopupRow } from '../../store/topups/operator.ts';
import type { OperatorDepositRow } from '../../store/topups/operator-deposits.ts';
import type { RefundRow } from '../../store/topups/refunds.ts';
import type { Service } from '../context.ts';
import { depositId, findTopupForOperator } from '../topups/operator.ts';

export type TopupObject = ReturnType<typeof toTopupObject>;
export type TopupWithPayments = Awaited<ReturnType<typeof readTopupObject>>;
export type DepositObject = ReturnType<typeof toDepositObject>;

const time = (value: Date | null): string | null => value && formatRfc3339(value);

/** Fails with an OperatorError if there is no such top-up. */
export async function readTopupObject(service: Pick<Service, 'db'>, name: string) {
  return toTopupWithPayments(await findTopupForOperator(service, name));
}

export function toTopupWithPayments({
  topup,
  payments,
  refunds,
}: Awaited<ReturnType<typeof findTopupForOperator>>) {
  return {
    ...toTopupObject(topup),
    payments: payments.map(toPaymentObject),
    // Refunds of older versions have no address.
    refunds: refunds.filter(({ address }) => address !== null).map((row) => toRefundObject(row, topup.coin)),
  };
}

export function toTopupObject(row: OperatorTopupRow) {
  const amount = (units: string | bigint) => formatUnits(BigInt(units), getCoin(row.coin).decimals);
  return {
    object: 'topup' as const,
    id: formatId('topup', row.id),
    order_ref: row.order_ref,
    customer: row.email,
    coin: row.coin,
    status: row.status,
    cancelled_at: time(row.cancelled_at),
    amount_usd: centsToUsd(row.amount_cents),
    rate_usd: row.rate_usd,
    deposit_address: row.deposit_address,
    deposit_amount: amount(row.deposit_units),
    received_amount: amount(row.received_units),
    withheld_amount: amount(row.withheld_units),
    refunded_amount: amount(row.refunded_units),
    unsent_amount: amount(row.unsent_units),
    credited_usd: centsToUsd(row.credited_cents),
    bonus_usd: centsToUsd(row.bonus_paid_cents),
    reversed_usd: centsToUsd(row.reversed_cents),
    reversed_at: time(row.reversed_at),
    expires_at: formatRfc3339(row.expires_at),
    created_at: formatRfc3339(row.created_at),
  };
}

function toPaymentObject(row: DepositRow) {
  return {
    /** For lists: the coin, and the key on the chain. */
    id: depositId(row),
    txid: row.txid,
    amount: formatUnits(row.amount_units, getCoin(row.coin).decimals),
    state: row.state,
    confirmations: row.confirmations,
    withheld: row.held,
    credited_usd: row.credited_cents === null ? null : centsToUsd(row.credited_cents),
    /** False: the second node does not report it at that place. */
    agreed: row.agreed,
    refunded_at: time(row.refunded_at),
    first_seen_at: formatRfc3339(row.first_seen_at),
  };
}

function toRefundObject(row: RefundRow, coin: CoinCode) {
  return {
    amount: formatUnits(BigInt(row.units), getCoin(coin).decimals),
    to: row.address,
    approved_by: row.approved_by,
    approved_at: formatRfc3339(row.refunded_at),
    /** Null until the coins are sent. */
    txid: row.txid,
    note: row.note,
  };
}

export function toDepositObject(row: OperatorDepositRow) {
  return {
    object: 'deposit' as const,
    id: depositId(row),
    topup: formatId('topup', row.topup_id),
    order_ref: row.order_ref,
    customer: row.email,
    coin: row.coin,
    txid: row.txid,
    amount: formatUnits(BigInt(row.amount_units), getCoin(row.coin).decimals),
    state: row.state,
    confirmations: row.confirmations,
    agreed: row.agreed,
    outcome: outcomeOf(row),
    credited_usd: row.credited_cents === null ? null : centsToUsd(row.credited_cents),
    first_seen_at: formatRfc3339(row.first_seen_at),
  };
}

function outcomeOf(row: OperatorDepositRow): DepositOutcome {
  if (row.refunded_at !== null) return 'refunded';
  if (row.held) return 'withheld';
  return row.credited_cents === null ? 'not_credited' : 'credited';
}
