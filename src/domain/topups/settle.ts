/**
 * The settlement engine: the one place where what chains show becomes money.
 *
 * Drivers only observe. Each observation lands on the row of its output (`deposits`, unique by coin and key for
 * ever), and under the lock of the invoice everything else is computed anew from those rows: which payments
 * stand, what they are worth, what is still to be credited or taken back, the bonus, the status. A notice that
 * comes twice, late or out of order therefore changes nothing or puts things right, and a process may be killed
 * anywhere: observation, transfers, status, events and audit are one commit.
 *
 * A payment counts once it has the confirmations that the invoice needs, which rise with all that has arrived.
 * Its credit stands until the payment leaves its block: back in the mempool, removed, double-spent, or in another
 * block with fewer confirmations than needed. Then it is reversed, even below a balance of zero, and credited
 * again should the payment return. Fewer confirmations in the same block take nothing back.
 *
 * Nobody can prevent a late payment: cancelled and expired invoices are credited like any other.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { formatId } from '../../kernel/ids.ts';
import type { KeyRing } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { isDeletingCustomer } from '../../store/account-deletion.ts';
import { type DepositRow, saveDeposits } from '../../store/deposits.ts';
import { type TopupRow, updateTopup } from '../../store/topups.ts';
import type { Actor } from '../context.ts';
import { recordAudit, recordEvent } from '../record.ts';
import { type BookingResult, bookCredits, sumCents } from './credits.ts';
import { creditStands, isConfirmed, shownConfirmations } from './deposit.ts';
import { notifyCredit } from './notify-credit.ts';
import { topupObject } from './object.ts';
import { isUnpriced, requiredConfirmations, worthCents } from './pricing.ts';
import { hasArrived, isPresent, topupStatus, topupTransitions } from './status.ts';

export interface Settlement {
  /** Locked in this transaction. */
  readonly topup: TopupRow;
  /** All payments as they are now, already saved; oldest first. */
  readonly deposits: readonly DepositRow[];
  /** The same as they were before. */
  readonly before: readonly DepositRow[];
  readonly mayCredit: boolean;
  readonly actor: Actor;
  readonly now: Date;
  /** What the mail about a credit is sealed with. */
  readonly keys: KeyRing;
}

/** Brings ledger, status, events, audit and mail of one invoice in line with its payments; returns its new row. */
export async function settle(tx: Sql, settlement: Settlement): Promise<TopupRow> {
  const { topup, deposits, now } = settlement;
  // What comes for an account that is being deleted, or was, is held: there is nobody to spend it.
  const isAccountGone = await isDeletingCustomer(tx, topup.customer_id);
  const mayCredit = settlement.mayCredit && !isAccountGone;
  const required = requiredConfirmations(topup, deposits.filter(hasArrived));
  const booked = await bookCredits(tx, topup, { ...classifyDeposits(settlement, required), mayCredit }, now);
  await saveDeposits(tx, booked.changed);
  const changed = new Map(booked.changed.map((deposit) => [deposit.key, deposit]));
  const settled = deposits.map((deposit) => changed.get(deposit.key) ?? deposit);
  const after = settledTopup(settlement, settled, booked, required);
  await updateTopup(tx, after);
  await recordSettlement(tx, settlement, after, settled, { ...booked, told: !isAccountGone });
  if (booked.credited) {
    await notifyCredit(tx, settlement.keys, { before: topup, after, changed: booked.changed }, now);
  }
  if (booked.credited) crashPoint('credit.written');
  return after;
}

function classifyDeposits(
  { topup, deposits, before }: Settlement,
  required: number,
): Record<'kept' | 'fallen' | 'due', DepositRow[]> {
  const earlier = new Map(before.map((deposit) => [deposit.key, deposit]));
  const credited = deposits.filter((deposit) => deposit.credited_cents !== null);
  const standing = new Set(credited.filter((each) => creditStands(each, earlier.get(each.key), required)));
  return {
    kept: credited.filter((deposit) => standing.has(deposit)),
    fallen: credited.filter((deposit) => !standing.has(deposit)),
    due: deposits.filter(
      (deposit) =>
        deposit.credited_cents === null &&
        !deposit.held &&
        hasArrived(deposit) &&
        isConfirmed(deposit, required) &&
        !isUnpriced(topup, deposit),
    ),
  };
}

function settledTopup(
  { topup, now }: Settlement,
  deposits: readonly DepositRow[],
  booked: BookingResult,
  required: number,
): TopupRow {
  // An expired invoice stays over, should another process's clock be a little behind.
  const refunded = deposits.some((deposit) => deposit.refunded_at !== null && isPresent(deposit));
  const isExpired = topup.status === 'expired' || now >= topup.expires_at;
  // An invoice whose payment was given back asks for none again.
  const isOver = topup.cancelled_at !== null || isExpired || refunded;
  return {
    ...topup,
    status: topupStatus(topup, deposits, isOver),
    confirmations: minConfirmations(topup, deposits),
    required_confirmations: required,
    credit_held: deposits.some((deposit) => deposit.held && isConfirmed(deposit, required)),
    credited_cents: sumCents(deposits),
    bonus_paid_cents: booked.bonusPaidCents,
    bonus_transfers: booked.bonusTransfers,
  };
}

/** Of the payments that are worth anything. There may be more of them than a call takes arguments. */
function minConfirmations(topup: TopupRow, deposits: readonly DepositRow[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const deposit of deposits) {
    if (!hasArrived(deposit) || worthCents(topup, [deposit]) === 0n) continue;
    least = Math.min(least, shownConfirmations(deposit));
  }
  return Number.isFinite(least) ? least : 0;
}

async function recordSettlement(
  tx: Sql,
  { topup, actor, now }: Settlement,
  after: TopupRow,
  deposits: readonly DepositRow[],
  { credited, reversed, told: notify }: BookingResult & { readonly told: boolean },
): Promise<void> {
  const { customer_id: customerId } = topup;
  const entry = { actor, resource: formatId('topup', topup.id), customerId };
  if (reversed) await recordAudit(tx, { ...entry, action: 'topup.reverse' }, now);
  if (credited) await recordAudit(tx, { ...entry, action: 'topup.credit' }, now);
  const txids = deposits.filter(isPresent).map((deposit) => deposit.txid);
  for (const { to, event } of topupTransitions(topup.status, after.status, credited || reversed)) {
    if (to === 'expired') await recordAudit(tx, { ...entry, action: 'topup.expire' }, now);
    if (!notify || !event || (to === 'expired' && topup.cancelled_at)) continue;
    const object = topupObject(to === after.status ? after : intermediateTopup(topup, after), txids);
    await recordEvent(tx, { customerId, type: event, object }, now);
  }
}

/** A credited invoice whose credit changes, as it was in between: with what it had before and has after. */
function intermediateTopup(before: TopupRow, after: TopupRow): TopupRow {
  const less = before.credited_cents < after.credited_cents ? before : after;
  const { credited_cents, bonus_paid_cents } = less;
  return { ...after, status: 'confirming', credited_cents, bonus_paid_cents };
}
