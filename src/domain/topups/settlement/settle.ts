/**
 * The settlement engine: the only place where chain observations become money.
 *
 * Drivers only observe. Every observation updates the row of its output (`deposits`, permanently unique by
 * coin and key). Under the invoice's lock, everything else is recomputed from those rows: which payments
 * are valid, their worth, what is to be credited or reversed, the bonus, and the status. So a notice that
 * is repeated, late, or out of order either changes nothing or corrects the state. A process may die at any
 * point: observation, transfers, status, events, and audit are one commit.
 *
 * A payment counts once it has the confirmations that the invoice needs, which rise with the total
 * received. Its credit lasts until the payment leaves its block: back to the mempool, removed,
 * double-spent, or in another block with too few confirmations. Then the credit is reversed, even below a
 * balance of zero, and booked again if the payment returns. Fewer confirmations in the same block reverse
 * nothing.
 *
 * Late payments cannot be prevented, so canceled and expired invoices are credited like any other.
 */
import { formatId } from '../../../kernel/ids.ts';
import type { KeyRing } from '../../../kernel/secrets.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { isDeletingCustomer } from '../../../store/customers/deletion.ts';
import { readBalance } from '../../../store/ledger/ledger.ts';
import { type DepositRow, saveDeposits } from '../../../store/topups/deposits.ts';
import { type TopupRow, updateTopup } from '../../../store/topups/topups.ts';
import { findSuspensionTime } from '../../billing/negative-balance.ts';
import type { Actor, Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { recordAudit, recordEvent } from '../../record.ts';
import { topupObject } from '../read.ts';
import { type BookingResult, bookCredits, sumCents } from './credits.ts';
import { creditStands, isConfirmed, shownConfirmations } from './deposit.ts';
import { isUnpriced, requiredConfirmations, worthCents } from './pricing.ts';
import { hasArrived, isPresent, reversalFate, topupStatus, topupTransitions } from './status.ts';

export interface Settlement {
  /** Locked in this transaction. */
  readonly topup: TopupRow;
  /** All current payments, already saved; oldest first. */
  readonly deposits: readonly DepositRow[];
  /** The same payments before the change. */
  readonly before: readonly DepositRow[];
  readonly mayCredit: boolean;
  readonly actor: Actor;
  readonly now: Date;
  /** To seal the mail about a change, and to say when a negative balance has consequences. */
  readonly service: Pick<Service, 'keys' | 'settings'>;
}

/**
 * Updates ledger, status, events, audit, and mail of an invoice to match its payments. Returns its new row.
 */
export async function settle(tx: Sql, settlement: Settlement): Promise<TopupRow> {
  const { topup, deposits, now } = settlement;
  // Withhold payments to a deleted account: there is no one to spend them.
  const isAccountGone = await isDeletingCustomer(tx, topup.customer_id);
  const mayCredit = settlement.mayCredit && !isAccountGone;
  const required = requiredConfirmations(topup, deposits.filter(hasArrived));
  const booked = await bookCredits(tx, topup, { ...classifyDeposits(settlement, required), mayCredit }, now);
  await saveDeposits(tx, booked.changed);
  const changed = new Map(booked.changed.map((deposit) => [deposit.key, deposit]));
  const settled = deposits.map((deposit) => changed.get(deposit.key) ?? deposit);
  const after = settledTopup(settlement, settled, booked, required);
  await updateTopup(tx, after);
  await recordSettlement(tx, settlement, after, settled, { ...booked, notify: !isAccountGone });
  const change = { before: topup, after, changed: booked.changed };
  if (booked.credited) await notifyCredit(tx, settlement.service.keys, change, now);
  if (isReversed(topup, after) && !isAccountGone) await notifyReversal(tx, settlement, after, settled);
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
  // An expired invoice stays expired, even if another process's clock is slightly behind.
  const refunded = deposits.some((deposit) => deposit.refunded_at !== null && isPresent(deposit));
  const isExpired = topup.status === 'expired' || now >= topup.expires_at;
  // A refunded invoice does not become payable again.
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
    ...reversedAmount(topup, sumCents(deposits) + booked.bonusPaidCents, now),
  };
}

/** Updates the amount that was taken back and not credited again, for the total that is credited now. */
function reversedAmount(
  topup: TopupRow,
  totalCents: bigint,
  now: Date,
): Pick<TopupRow, 'reversed_cents' | 'reversed_at'> {
  const reversedCents = topup.reversed_cents + topup.credited_cents + topup.bonus_paid_cents - totalCents;
  if (reversedCents <= 0n) return { reversed_cents: 0n, reversed_at: null };
  return {
    reversed_cents: reversedCents,
    reversed_at: reversedCents > topup.reversed_cents ? now : topup.reversed_at,
  };
}

function isReversed(before: TopupRow, after: TopupRow): boolean {
  return after.reversed_cents > before.reversed_cents;
}

/**
 * Returns the minimum over payments with any worth. A loop, because there may be more payments than call
 * arguments.
 */
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
  { credited, reversed, notify }: BookingResult & { readonly notify: boolean },
): Promise<void> {
  const { customer_id: customerId } = topup;
  const entry = { actor, resource: formatId('topup', topup.id), customerId };
  if (reversed) await recordAudit(tx, { ...entry, action: 'topup.reverse' }, now);
  if (credited) await recordAudit(tx, { ...entry, action: 'topup.credit' }, now);
  const txids = deposits.filter(isPresent).map((deposit) => deposit.txid);
  if (notify && isReversed(topup, after)) {
    await recordEvent(tx, { customerId, type: 'topup.reversed', object: topupObject(after, txids) }, now);
  }
  for (const { to, event } of topupTransitions(topup.status, after.status, credited || reversed)) {
    if (to === 'expired') await recordAudit(tx, { ...entry, action: 'topup.expire' }, now);
    if (!notify || !event || (to === 'expired' && topup.cancelled_at)) continue;
    const object = topupObject(to === after.status ? after : intermediateTopup(topup, after), txids);
    await recordEvent(tx, { customerId, type: event, object }, now);
  }
}

/** Returns a credited invoice between two credits, for its event: with the lower of both credits. */
function intermediateTopup(before: TopupRow, after: TopupRow): TopupRow {
  const less = before.credited_cents < after.credited_cents ? before : after;
  const { credited_cents, bonus_paid_cents } = less;
  return { ...after, status: 'confirming', credited_cents, bonus_paid_cents };
}

/**
 * Mails the customer about a credit, in its transaction: the first of each payment, and those after a
 * reversal, which was mailed too. A payment that moves to another block in one step is not mailed again.
 */
export async function notifyCredit(
  tx: Sql,
  keys: KeyRing,
  invoice: { readonly before: TopupRow; readonly after: TopupRow; readonly changed: readonly DepositRow[] },
  now: Date,
): Promise<void> {
  const { before, after } = invoice;
  const mailed = invoice.changed.filter(
    (deposit) => (deposit.credits === 1 || before.reversed_cents > 0n) && (deposit.credited_cents ?? 0n) > 0n,
  );
  const [first] = mailed.toSorted(byKey);
  if (!first) return;
  const bonusCents = after.bonus_paid_cents - before.bonus_paid_cents;
  const data = {
    topup: formatId('topup', after.id),
    coin: after.coin,
    creditedCents: sumCents(mailed),
    bonusCents: bonusCents > 0n ? bonusCents : 0n,
    balanceCents: await readBalance(tx, after.customer_id),
    creditedAt: now,
  };
  const cause = `deposit:${after.coin}:${first.key}${first.credits > 1 ? `:${first.credits}` : ''}`;
  await enqueueMail(tx, { customerId: after.customer_id, kind: 'topup_credited', cause, data }, now, keys);
}

/** Mails the customer about a reversal, in its transaction. */
async function notifyReversal(
  tx: Sql,
  { topup, before, now, service }: Settlement,
  after: TopupRow,
  deposits: readonly DepositRow[],
): Promise<void> {
  const { customer_id: customerId } = topup;
  const [first] = before.filter((deposit) => deposit.credited_cents !== null).toSorted(byKey);
  if (!first) throw new Error('a reversal without a credited payment');
  const data = {
    topup: formatId('topup', topup.id),
    coin: topup.coin,
    reversedCents: after.reversed_cents - topup.reversed_cents,
    balanceCents: await readBalance(tx, customerId),
    suspendAt: await findSuspensionTime(tx, service, { customerId }),
    reversedAt: now,
    fate: reversalFate(after, deposits),
  };
  const cause = `reversal:${topup.coin}:${first.key}:${first.credits}`;
  await enqueueMail(tx, { customerId, kind: 'topup_reversed', cause, data }, now, service.keys);
}

function byKey(a: DepositRow, b: DepositRow): number {
  return a.key < b.key ? -1 : 1;
}
