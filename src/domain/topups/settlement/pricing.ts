/**
 * The worth of payments to an invoice. The locked rate applies to payments in a block by three hours after
 * the invoice's expiry, by the block's time, so that our downtime costs the payer nothing. Later payments
 * have the rate quoted when they were found in their block.
 */
import { coinValueCents } from '../../../kernel/money.ts';
import { HOUR_MS } from '../../../kernel/time.ts';
import { getCoin as coinOf, confirmationsNeeded } from '../../../spec/coins.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { DepositRow } from '../../../store/topups/deposits.ts';
import type { TopupRow } from '../../../store/topups/topups.ts';

export type Invoice = Pick<TopupRow, 'coin' | 'amount_cents' | 'deposit_units' | 'rate_usd' | 'expires_at'>;
export type Payment = Pick<DepositRow, 'amount_units' | 'included_at' | 'rate_at_inclusion'>;

const GRACE_MS = LIMITS.rateLockGraceHours * HOUR_MS;

export function isLate(invoice: Pick<Invoice, 'expires_at'>, includedAt: Date | null): boolean {
  return includedAt !== null && includedAt.getTime() > invoice.expires_at.getTime() + GRACE_MS;
}

/** Whether a late payment still lacks a rate. It is not credited until it has one. */
export function isUnpriced(
  invoice: Pick<Invoice, 'expires_at'>,
  payment: Pick<Payment, 'included_at' | 'rate_at_inclusion'>,
): boolean {
  return payment.rate_at_inclusion === null && isLate(invoice, payment.included_at);
}

/** The joint worth of payments that are added one by one, in constant time per payment. */
export class RunningWorth {
  readonly #invoice: Invoice;
  readonly #decimals: number;
  #inTimeUnits = 0n;
  #lateCents = 0n;

  constructor(invoice: Invoice) {
    this.#invoice = invoice;
    this.#decimals = coinOf(invoice.coin).decimals;
  }

  add(payment: Payment): void {
    const { amount_units: units, rate_at_inclusion: lateRate } = payment;
    const late = isLate(this.#invoice, payment.included_at);
    if (late && lateRate !== null) this.#lateCents += coinValueCents(units, lateRate, this.#decimals);
    else this.#inTimeUnits += units;
  }

  get cents(): bigint {
    return this.#lateCents + inTimeCents(this.#invoice, this.#inTimeUnits, this.#decimals);
  }

  /** Returns the worth with one more payment, without adding it. */
  withPayment(payment: Payment): bigint {
    const more = new RunningWorth(this.#invoice);
    more.#inTimeUnits = this.#inTimeUnits;
    more.#lateCents = this.#lateCents;
    more.add(payment);
    return more.cents;
  }
}

/**
 * Returns the joint worth of these payments in cents, rounded down. More payments are never worth less.
 * Payments without a block, and late ones without a rate, count at the locked rate. That affects only the
 * required confirmations, and keeps an existing credit until the rate of its new block is known.
 */
export function worthCents(invoice: Invoice, payments: readonly Payment[]): bigint {
  const worth = new RunningWorth(invoice);
  for (const payment of payments) worth.add(payment);
  return worth.cents;
}

function inTimeCents(invoice: Invoice, units: bigint, decimals: number): bigint {
  const asked = invoice.deposit_units;
  const isAsked = units <= asked && units * 1_000n >= asked * (1_000n - LIMITS.topupTolerancePerMille);
  return isAsked ? invoice.amount_cents : coinValueCents(units, invoice.rate_usd, decimals);
}

/** Returns the confirmations that each payment needs, given all that has arrived. */
export function requiredConfirmations(invoice: Invoice, arrived: readonly Payment[]): number {
  const worth = worthCents(invoice, arrived);
  return confirmationsNeeded(invoice.coin, worth > invoice.amount_cents ? worth : invoice.amount_cents);
}
