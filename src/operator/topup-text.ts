/** Top-ups in the words of the operator's commands. */
import { showId } from '../kernel/ids.ts';
import { centsText, formatUnits } from '../kernel/money.ts';
import { sessionTime } from '../kernel/time.ts';
import { coin as coinOf } from '../spec/coins.ts';
import type { DepositRow } from '../store/deposits.ts';
import type { DeskTopupRow } from '../store/desk-topups.ts';
import type { RefundRow } from '../store/refunds.ts';

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
    sentUnits(row) !== 0n && `${coinText(sentUnits(row), row.coin)} sent back`,
    row.unsent_units !== '0' && `${coinText(row.unsent_units, row.coin)} to be sent back`,
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

function sentUnits(row: DeskTopupRow): bigint {
  return BigInt(row.refunded_units) - BigInt(row.unsent_units);
}

export function topupFacts(row: DeskTopupRow): [string, string | null][] {
  const held = row.held_units === '0' ? null : coinText(row.held_units, row.coin);
  const sent = sentUnits(row) === 0n ? null : coinText(sentUnits(row), row.coin);
  const unsent = row.unsent_units === '0' ? null : coinText(row.unsent_units, row.coin);
  const cancelled = row.cancelled_at && ` (cancelled ${sessionTime(row.cancelled_at)} UTC)`;
  return [
    ['order_ref', row.order_ref],
    ['top-up', showId('topup', row.id)],
    ['customer', row.email],
    ['status', `${row.status}${cancelled ?? ''}`],
    ['asked', `${centsText(row.amount_cents)} USD, ${coinText(row.deposit_units, row.coin)}`],
    ['rate', `${row.rate_usd} USD until ${sessionTime(row.expires_at)} UTC`],
    ['made of', row.quotes.map(({ source, usd, at }) => `${source} ${usd} of ${at}`).join(', ') || null],
    ['address', row.deposit_address],
    ['received', coinText(row.received_units, row.coin)],
    ['held', held],
    ['sent back', sent],
    ['to be sent back', unsent],
    ['credited', `${centsText(row.credited_cents)} USD, bonus ${centsText(row.bonus_paid_cents)} USD`],
    ['made', `${sessionTime(row.created_at)} UTC`],
  ];
}

export function paymentColumns(payment: DepositRow, refunds: readonly RefundRow[]): string[] {
  const refund = refunds.find(({ keys }) => keys.includes(payment.key));
  return [
    coinText(payment.amount_units, payment.coin),
    payment.state,
    String(payment.confirmations),
    sessionTime(payment.first_seen_at),
    refund ? refundOutcome(refund) : outcome(payment),
    payment.txid,
  ];
}

function outcome(payment: DepositRow): string {
  if (payment.held) return `held${alone(payment)}`;
  if (payment.credited_cents !== null)
    return `credited ${centsText(payment.credited_cents)} USD${alone(payment)}`;
  return `not credited${alone(payment)}`;
}

function alone({ agreed }: DepositRow): string {
  return agreed ? '' : '; the second node does not have it there';
}

function refundOutcome({ refunded_at, note, ...refund }: RefundRow): string {
  const what = isUnsent(refund) ? 'to be sent back, approved' : 'sent back, noted';
  return `${what} ${sessionTime(refunded_at)}${note === null ? '' : `: ${note}`}`;
}

function isUnsent({ address, txid }: Pick<RefundRow, 'address' | 'txid'>): boolean {
  return address !== null && txid === null;
}

/** What is noted of a refund; nothing of those by older versions, of which there is a note at most. */
export function refundFacts(refund: RefundRow, coin: string): [string, string | null][] {
  if (refund.address === null) return [];
  return [
    ['refund', coinText(refund.units, coin)],
    ['approved by', `${refund.approved_by}, ${sessionTime(refund.refunded_at)} UTC`],
    ['to', refund.address],
    ['sent in', refund.txid ?? 'nothing yet, as far as is noted'],
    ['note', refund.note],
  ];
}
