/**
 * The status of an invoice as a function of its payments: total and without memory, so that a process killed at
 * any moment, a repeated notice or notices out of order end in the same status.
 */
import { findTransition, TOPUP_TRANSITIONS, type TopupStatus, type Transition } from '../../spec/states.ts';
import type { DepositRow } from '../../store/deposits.ts';
import { type Invoice, type Payment, worthCents } from './pricing.ts';

export type StatusPayment = Payment &
  Pick<DepositRow, 'state' | 'refunded_at' | 'credits' | 'credited_cents'>;

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
 * counts. A payment worth less than a cent changes nothing. One that was credited and left the chain is waited for
 * (`confirming`), unless it was spent elsewhere and can never return. `over`: cancelled, or its time is up.
 */
export function topupStatus(
  invoice: Invoice,
  payments: readonly StatusPayment[],
  isOver: boolean,
): TopupStatus {
  const counted = payments.filter((payment) => payment.credited_cents !== null);
  const arrived = payments.filter(hasArrived);
  const countedCents = worthCents(invoice, counted);
  if (worthCents(invoice, arrived) > countedCents) return 'confirming';
  if (countedCents > 0n) return 'credited';
  if (payments.some(mayReturn)) return 'confirming';
  return isOver ? 'expired' : 'pending';
}

function mayReturn(payment: StatusPayment): boolean {
  return payment.credits > 0 && payment.state === 'removed' && payment.refunded_at === null;
}

type TopupTransition = Transition<TopupStatus> & { readonly to: TopupStatus };

/**
 * The rows of the table that lead from one status to another. Nothing is credited, and no credit is lost or changed,
 * but through `confirming`, though in one commit nobody could see it there.
 */
export function topupTransitions(
  from: TopupStatus,
  to: TopupStatus,
  creditChanged: boolean,
): TopupTransition[] {
  const aboutCredit = from === 'credited' || to === 'credited';
  if (from === to && !(aboutCredit && creditChanged)) return [];
  const through = aboutCredit && from !== 'confirming' && to !== 'confirming';
  const path = through ? [from, 'confirming' as const, to] : [from, to];
  return path.slice(1).map((next, index) => directTransition(path[index] ?? from, next));
}

function directTransition(from: TopupStatus, to: TopupStatus): TopupTransition {
  const row = TOPUP_TRANSITIONS.find(
    (each) => each.from === from && each.to === to && each.trigger !== 'cancel',
  );
  if (!row) throw new Error(`no transition from ${from} to ${to}`);
  return findTransition(TOPUP_TRANSITIONS, from, row.trigger);
}
