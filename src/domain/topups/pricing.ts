/**
 * What payments to an invoice are worth. The locked rate counts for what is in a block by three hours after the
 * invoice's end, judged by the block's time, so that an outage of ours costs the payer nothing; later, the rate
 * that was quoted when the payment was found in its block.
 */
import { coinWorth } from '../../kernel/money.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { coin as coinOf, confirmationsNeeded } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { DepositRow } from '../../store/deposits.ts';
import type { TopupRow } from '../../store/topups.ts';

export type Invoice = Pick<TopupRow, 'coin' | 'amount_cents' | 'deposit_units' | 'rate_usd' | 'expires_at'>;
export type Payment = Pick<DepositRow, 'amount_units' | 'included_at' | 'rate_at_inclusion'>;

const GRACE_MS = LIMITS.rateLockGraceHours * HOUR_MS;

export function isLate(invoice: Pick<Invoice, 'expires_at'>, includedAt: Date | null): boolean {
  return includedAt !== null && includedAt.getTime() > invoice.expires_at.getTime() + GRACE_MS;
}

/**
 * Cents that these payments are worth together, rounded down. More payments are never worth less. What is in no
 * block yet is taken at the locked rate; that decides only how many confirmations are asked for.
 */
export function worthCents(invoice: Invoice, payments: readonly Payment[]): bigint {
  const { decimals } = coinOf(invoice.coin);
  let inTimeUnits = 0n;
  let cents = 0n;
  for (const payment of payments) {
    if (!isLate(invoice, payment.included_at)) inTimeUnits += payment.amount_units;
    else if (payment.rate_at_inclusion === null) throw new Error('a late payment without a quote');
    else cents += coinWorth(payment.amount_units, payment.rate_at_inclusion, decimals);
  }
  return cents + inTimeCents(invoice, inTimeUnits, decimals);
}

function inTimeCents(invoice: Invoice, units: bigint, decimals: number): bigint {
  const asked = invoice.deposit_units;
  const isAsked = units <= asked && units * 1_000n >= asked * (1_000n - LIMITS.topupTolerancePerMille);
  return isAsked ? invoice.amount_cents : coinWorth(units, invoice.rate_usd, decimals);
}

/** Confirmations that each payment needs, given all that has arrived. */
export function requiredConfirmations(invoice: Invoice, arrived: readonly Payment[]): number {
  const worth = worthCents(invoice, arrived);
  return confirmationsNeeded(invoice.coin, worth > invoice.amount_cents ? worth : invoice.amount_cents);
}
