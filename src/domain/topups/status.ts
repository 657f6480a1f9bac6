/**
 * The status of an invoice as a function of its payments: total and without memory, so that a process killed at
 * any moment, a repeated notice or notices out of order end in the same status.
 */
import { move, TOPUP_TRANSITIONS, type TopupStatus, type Transition } from '../../spec/states.ts';
import type { DepositRow } from '../../store/deposits.ts';
import { type Invoice, type Payment, worthCents } from './pricing.ts';

export type StatusPayment = Payment & Pick<DepositRow, 'state' | 'refunded_at' | 'credited_cents'>;

/** On chain or on its way. */
export function isPresent({ state }: Pick<DepositRow, 'state'>): boolean {
  return state !== 'removed' && state !== 'conflicted';
}

/** On chain or on its way, and not given back by the operator. */
export function hasArrived(payment: Pick<DepositRow, 'state' | 'refunded_at'>): boolean {
  return payment.refunded_at === null && isPresent(payment);
}

/**
 * `confirming` while a payment would still add to what counts, held ones included; then `credited` if anything
 * counts. A payment worth less than a cent changes nothing. `over`: cancelled, or its time is up.
 */
export function topupStatus(
  invoice: Invoice,
  payments: readonly StatusPayment[],
  over: boolean,
): TopupStatus {
  const counted = payments.filter((payment) => payment.credited_cents !== null);
  const arrived = payments.filter(hasArrived);
  const countedCents = worthCents(invoice, counted);
  if (worthCents(invoice, arrived) > countedCents) return 'confirming';
  if (countedCents > 0n) return 'credited';
  return over ? 'expired' : 'pending';
}

type TopupTransition = Transition<TopupStatus> & { readonly to: TopupStatus };

/**
 * The rows of the table that lead from one status to another. A credited invoice whose credit changed went
 * through `confirming`, though nobody could see it there.
 */
export function topupMoves(from: TopupStatus, to: TopupStatus, creditChanged: boolean): TopupTransition[] {
  if (from !== to) return [directMove(from, to)];
  if (to !== 'credited' || !creditChanged) return [];
  return [directMove('credited', 'confirming'), directMove('confirming', 'credited')];
}

function directMove(from: TopupStatus, to: TopupStatus): TopupTransition {
  const row = TOPUP_TRANSITIONS.find(
    (each) => each.from === from && each.to === to && each.trigger !== 'cancel',
  );
  if (!row) throw new Error(`no transition from ${from} to ${to}`);
  return move(TOPUP_TRANSITIONS, from, row.trigger);
}
