/** Formats top-ups for the operator's commands. */
import { formatId } from '../../kernel/ids.ts';
import { formatCents, formatUnits } from '../../kernel/money.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import { getCoin as coinOf } from '../../spec/coins.ts';
import type { DepositRow } from '../../store/topups/deposits.ts';
import type { OperatorTopupRow } from '../../store/topups/operator.ts';
import type { RefundRow } from '../../store/topups/refunds.ts';

/** `0.5 LTC`. */
export function formatCoinAmount(units: string | bigint, coin: string): string {
  return `${formatUnits(BigInt(units), coinOf(coin).decimals)} ${coin}`;
}

export const TOPUP_HEADING = [
  'order_ref',
  'customer',
  'status',
  'requested',
  'received',
  'credited',
  'bonus',
  'created (UTC)',
  '',
] as const;

export function topupColumns(row: OperatorTopupRow): string[] {
  const notes = [
    row.cancelled_at !== null && 'canceled',
    row.reversed_at !== null && `${formatCents(row.reversed_cents)} USD taken back`,
    row.withheld_units !== '0' && `${formatCoinAmount(row.withheld_units, row.coin)} withheld`,
    sentUnits(row) !== 0n && `${formatCoinAmount(sentUnits(row), row.coin)} refunded`,
    row.unsent_units !== '0' && `${formatCoinAmount(row.unsent_units, row.coin)} refund pending`,
  ].filter((note) => note !== false);
  return [
    row.order_ref,
    row.email,
    row.status,
    `${formatCents(row.amount_cents)} USD`,
    formatCoinAmount(row.received_units, row.coin),
    `${formatCents(row.credited_cents)} USD`,
    `${formatCents(row.bonus_paid_cents)} USD`,
    formatSessionTime(row.created_at),
    notes.join(', '),
  ];
}

function sentUnits(row: OperatorTopupRow): bigint {
  return BigInt(row.refunded_units) - BigInt(row.unsent_units);
}

export function topupFacts(row: OperatorTopupRow): [string, string | null][] {
  const withheld = row.withheld_units === '0' ? null : formatCoinAmount(row.withheld_units, row.coin);
  const sent = sentUnits(row) === 0n ? null : formatCoinAmount(sentUnits(row), row.coin);
  const unsent = row.unsent_units === '0' ? null : formatCoinAmount(row.unsent_units, row.coin);
  const takenBack = `${formatCents(row.reversed_cents)} USD`;
  const cancelled = row.cancelled_at && ` (canceled ${formatSessionTime(row.cancelled_at)} UTC)`;
  return [
    ['order_ref', row.order_ref],
    ['top-up', formatId('topup', row.id)],
    ['customer', row.email],
    ['status', `${row.status}${cancelled ?? ''}`],
    ['requested', `${formatCents(row.amount_cents)} USD, ${formatCoinAmount(row.deposit_units, row.coin)}`],
    ['rate', `${row.rate_usd} USD until ${formatSessionTime(row.expires_at)} UTC`],
    ['quotes', row.quotes.map(({ source, usd, at }) => `${source} ${usd} at ${at}`).join(', ') || null],
    ['address', row.deposit_address],
    ['received', formatCoinAmount(row.received_units, row.coin)],
    ['withheld', withheld],
    ['refunded', sent],
    ['refund pending', unsent],
    ['credited', `${formatCents(row.credited_cents)} USD, bonus ${formatCents(row.bonus_paid_cents)} USD`],
    ['taken back', row.reversed_at && `${takenBack}, ${formatSessionTime(row.reversed_at)} UTC`],
    ['created', `${formatSessionTime(row.created_at)} UTC`],
  ];
}

export function paymentColumns(payment: DepositRow, refunds: readonly RefundRow[]): string[] {
  const refund = refunds.find(({ keys }) => keys.includes(payment.key));
  return [
    formatCoinAmount(payment.amount_units, payment.coin),
    payment.state,
    String(payment.confirmations),
    formatSessionTime(payment.first_seen_at),
    refund ? describeRefund(refund) : describeOutcome(payment),
    payment.txid,
  ];
}

function describeOutcome(payment: DepositRow): string {
  if (payment.held) return `withheld${describeDisagreement(payment)}`;
  if (payment.credited_cents !== null)
    return `credited ${formatCents(payment.credited_cents)} USD${describeDisagreement(payment)}`;
  return `not credited${describeDisagreement(payment)}`;
}

function describeDisagreement({ agreed }: DepositRow): string {
  return agreed ? '' : '; not confirmed by the second node';
}

function describeRefund({ refunded_at, note, address, txid }: RefundRow): string {
  const state = address !== null && txid === null ? 'refund pending, approved' : 'refunded, recorded';
  return `${state} ${formatSessionTime(refunded_at)}${note === null ? '' : `: ${note}`}`;
}

/** Returns the facts of a refund. Refunds by older versions have at most a note, so they return none. */
export function refundFacts(refund: RefundRow, coin: string): [string, string | null][] {
  if (refund.address === null) return [];
  return [
    ['refund', formatCoinAmount(refund.units, coin)],
    ['approved by', `${refund.approved_by}, ${formatSessionTime(refund.refunded_at)} UTC`],
    ['to', refund.address],
    ['sent in', refund.txid ?? 'no transaction recorded'],
    ['note', refund.note],
  ];
}
