/**
 * The status of an invoice as a pure function of its payments: total and without memory. A crash at any
 * point, or notices that are repeated or out of order, lead to the same status.
 */
import {
  findTransition,
  type ReversalFate,
  TOPUP_TRANSITIONS,
  type TopupStatus,
  type Transition,
} from '../../../spec/states.ts';
import type { DepositRow } from '../../../store/topups/deposits.ts';
import { type Invoice, type Payment, worthCents } from './pricing.ts';

export type StatusPayment = Payment &
  Pick<DepositRow, 'state' | 'refunded_at' | 'credits' | 'credited_cents'>;

/** Whether the payment is on the chain or in the mempool. */
export function isPresent({ state }: Pick<DepositRow, 'state'>): boolean {
  return state !== 'removed' && state !== 'conflicted';
}

/** Whether the payment is on the chain or in the mempool, and not refunded. */
export function hasArrived(payment: Pick<DepositRow, 'state' | 'refunded_at'>): boolean {
  return payment.refunded_at === null && isPresent(payment);
}

/**
 * Returns `confirming` while a payment, withheld or not, would still add to the counted ones, then
 * `credited` if anything counts. A payment below a cent changes nothing. A credited payment that left the
 * chain is awaited (`confirming`), unless it was spent elsewhere and cannot return. `isOver`: canceled,
 * expired, or refunded.
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

/** Returns what became of the payments whose credit was taken back. */
export function reversalFate(
  { status }: { readonly status: TopupStatus },
  payments: readonly StatusPayment[],
): ReversalFate {
  if (status === 'confirming' || payments.some(mayReturn)) return 'awaited';
  return payments.some((payment) => payment.credits > 0 && !isPresent(payment)) ? 'spent' : 'moved';
}

type TopupTransition = Transition<TopupStatus> & { readonly to: TopupStatus };

/**
 * Returns the transitions between two statuses. Every change of a credit passes through `confirming`, even
 * within one commit where no one could see it.
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
