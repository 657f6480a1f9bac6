/** Top-ups in the words of the operator's commands. */
import { showId } from '../kernel/ids.ts';
import { centsText, formatUnits } from '../kernel/money.ts';
import { sessionTime } from '../kernel/time.ts';
import { coin as coinOf } from '../spec/coins.ts';
import type { DepositRow } from '../store/deposits.ts';
import type { DeskTopupRow } from '../store/desk-topups.ts';

/** `0.5 LTC`. */
export function coinText(units: string | bigint, coin: string): string {
  return `${formatUnits(BigInt(units), coinOf(coin).decimals)} ${coin}`;
}

export const TOPUP_HEADING = [
  ...['order_ref', 'customer', 'status', 'asked', 'received', 'credited', 'bonus', 'made (UTC)', ''],
] as const;

export function topupColumns(row: DeskTopupRow): string[] {
  const notes = [
    row.cancelled_at !== null && 'cancelled',
    row.held_units !== '0' && `${coinText(row.held_units, row.coin)} held`,
    row.refunded_units !== '0' && `${coinText(row.refunded_units, row.coin)} sent back`,
  ].filter((note) => note !== false);
  return [
    row.order_ref,
    row.email,
    row.status,
    `${centsText(row.amount_cents)} USD`,
    coinText(row.received_units, row.coin),
    `${centsText(row.credited_cents)} USD`,
    `${centsText(row.bonus_paid_cents)} USD`,
    sessionTime(row.created_at),
    notes.join(', '),
  ];
}

export function topupFacts(row: DeskTopupRow): [string, string | null][] {
  const held = row.held_units === '0' ? null : coinText(row.held_units, row.coin);
  const refunded = row.refunded_units === '0' ? null : coinText(row.refunded_units, row.coin);
  const cancelled = row.cancelled_at && ` (cancelled ${sessionTime(row.cancelled_at)} UTC)`;
  return [
    ['order_ref', row.order_ref],
    ['top-up', showId('topup', row.id)],
    ['customer', row.email],
    ['status', `${row.status}${cancelled ?? ''}`],
    ['asked', `${centsText(row.amount_cents)} USD, ${coinText(row.deposit_units, row.coin)}`],
    ['rate', `${row.rate_usd} USD until ${sessionTime(row.expires_at)} UTC`],
    ['address', row.deposit_address],
    ['received', coinText(row.received_units, row.coin)],
    ['held', held],
    ['sent back', refunded],
    ['credited', `${centsText(row.credited_cents)} USD, bonus ${centsText(row.bonus_paid_cents)} USD`],
    ['made', `${sessionTime(row.created_at)} UTC`],
  ];
}

export function paymentColumns(payment: DepositRow, note: string | undefined): string[] {
  return [
    coinText(payment.amount_units, payment.coin),
    payment.state,
    String(payment.confirmations),
    sessionTime(payment.first_seen_at),
    outcome(payment, note),
    payment.txid,
  ];
}

function outcome(payment: DepositRow, note: string | undefined): string {
  if (payment.refunded_at !== null) {
    return `sent back, noted ${sessionTime(payment.refunded_at)}${note === undefined ? '' : `: ${note}`}`;
  }
  if (payment.held) return 'held';
  if (payment.credited_cents !== null) return `credited ${centsText(payment.credited_cents)} USD`;
  return 'not credited';
}
