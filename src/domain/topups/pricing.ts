/**
 * What payments to an invoice are worth. The locked rate counts for what is in a block by three hours after the
 * invoice's end, judged by the block's time, so that an outage of ours costs the payer nothing; later, the rate
 * that was quoted when the payment was found in its block.
 */
import { coinValueCents } from '../../kernel/money.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { getCoin as coinOf, confirmationsNeeded } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { DepositRow } from '../../store/deposits.ts';
import type { TopupRow } from '../../store/topups.ts';

export type Invoice = Pick<TopupRow, 'coin' | 'amount_cents' | 'deposit_units' | 'rate_usd' | 'expires_at'>;
export type Payment = Pick<DepositRow, 'amount_units' | 'included_at' | 'rate_at_inclusion'>;

const GRACE_MS = LIMITS.rateLockGraceHours * HOUR_MS;

export function isLate(invoice: Pick<Invoice, 'expires_at'>, includedAt: Date | null): boolean {
  return includedAt !== null && includedAt.getTime() > invoice.expires_at.getTime() + GRACE_MS;
}

/** A late payment that no rate was found for yet: it is not credited until it has its own. */
export function isUnpriced(
  invoice: Pick<Invoice, 'expires_at'>,
  payment: Pick<Payment, 'included_at' | 'rate_at_inclusion'>,
): boolean {
  return payment.rate_at_inclusion === null && isLate(invoice, payment.included_at);
}

/** Payments that are added one after the other: what they are worth is known at each, however many there are. */
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

  /** With one more, which is not added. */
  withPayment(payment: Payment): bigint {
    const more = new RunningWorth(this.#invoice);
    more.#inTimeUnits = this.#inTimeUnits;
    more.#lateCents = this.#lateCents;
    more.add(payment);
    return more.cents;
  }
}

/**
 * Cents that these payments are worth together, rounded down. More payments are never worth less. What is in no
 * block yet is taken at the locked rate, and so is what came late and has no rate yet; that decides only how many
 * confirmations are asked for, and leaves a credit that stands until the rate of its new block is known.
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

/** Confirmations that each payment needs, given all that has arrived. */
export function requiredConfirmations(invoice: Invoice, arrived: readonly Payment[]): number {
  const worth = worthCents(invoice, arrived);
  return confirmationsNeeded(invoice.coin, worth > invoice.amount_cents ? worth : invoice.amount_cents);
}
