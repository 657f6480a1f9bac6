/**
 * The ledger's side of an invoice. Each payment that counts was credited the difference it made to what all
 * counted payments are worth together, so tolerance and rounding are exact in any order. When that sum no longer
 * fits, because a credited payment left the chain or moved to a block of another rate, everything of this
 * invoice is taken back and what still counts is credited again, in the same transaction.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { formatUnits } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { getCoin as coinOf } from '../../spec/coins.ts';
import type { DepositRow } from '../../store/deposits.ts';
import type { TopupRow } from '../../store/topups.ts';
import { credit, reverse, type Transfer } from '../ledger/transfer.ts';
import { bonusCents } from './amount.ts';
import { RunningWorth, worthCents } from './pricing.ts';

/** An invoice's payments as the chain has them, oldest first in each list. */
export interface CreditPlan {
  /** Credited, and standing. */
  readonly kept: readonly DepositRow[];
  /** Credited, but standing no more. */
  readonly fallen: readonly DepositRow[];
  /** Confirmed and not yet credited. */
  readonly due: readonly DepositRow[];
  /** False when the kill-switch is on: what is due is held. */
  readonly mayCredit: boolean;
}

export interface BookingResult {
  /** The payments whose rows changed. */
  readonly changed: readonly DepositRow[];
  readonly bonusTransfers: readonly string[];
  readonly bonusPaidCents: bigint;
  readonly credited: boolean;
  readonly reversed: boolean;
}

/**
 * Of the payments that are credited at once so many have a transfer of their own. Whoever sends thousands of outputs gets the
 * rest in one, under the last of them: it makes the difference of them all, as dust that adds up to a cent does.
 */
export const SINGLE_CREDITS_MAX = 100;

export async function bookCredits(
  tx: Sql,
  topup: TopupRow,
  verdict: CreditPlan,
  now: Date,
): Promise<BookingResult> {
  const { kept, fallen, due, mayCredit } = verdict;
  const keptCents = sumCents(kept);
  const reversed = sumCents(fallen) > 0n || worthCents(topup, kept) !== keptCents;
  if (reversed) await reverseCredits(tx, topup, [...kept, ...fallen], now);
  // What was credited before is no new credit: the kill-switch does not hold it.
  const toCredit = [...(reversed ? kept.map(withoutCredit) : []), ...(mayCredit ? due : [])];
  const standing = reversed ? [] : kept;
  const { rows, last } = await creditDeposits(tx, topup, { standing, toCredit }, now);
  const withheld = mayCredit ? [] : withheldDeposits(topup, [...standing, ...rows], due);
  const paid = reversed ? { bonus_transfers: [], bonus_paid_cents: 0n } : topup;
  const creditedCents = (reversed ? 0n : keptCents) + sumCents(rows);
  const bonus = await payBonus(tx, { ...topup, ...paid }, creditedCents, last, now);
  const changed = [...fallen.map(withoutCredit), ...rows, ...withheld];
  return { changed, ...bonus, credited: last !== undefined, reversed };
}

/** The rows of what is credited beside what stands, oldest first, and the last transfer that it took. */
async function creditDeposits(
  tx: Sql,
  topup: TopupRow,
  payments: { readonly standing: readonly DepositRow[]; readonly toCredit: readonly DepositRow[] },
  now: Date,
): Promise<{ rows: DepositRow[]; last: Transfer | undefined }> {
  const { standing, toCredit } = payments;
  const worth = new RunningWorth(topup);
  for (const deposit of standing) worth.add(deposit);
  let creditedCents = sumCents(standing);
  let togetherUnits = 0n;
  const rows: DepositRow[] = [];
  let last: Transfer | undefined;
  for (const [i, deposit] of toCredit.entries()) {
    worth.add(deposit);
    togetherUnits += deposit.amount_units;
    if (i >= SINGLE_CREDITS_MAX && i < toCredit.length - 1) {
      rows.push(withCredit(deposit, 0n, undefined));
      continue;
    }
    const cents = worth.cents - creditedCents;
    const amountUnits = i < SINGLE_CREDITS_MAX ? deposit.amount_units : togetherUnits;
    const transfer =
      cents > 0n ? await creditDeposit(tx, topup, deposit, { cents, amountUnits }, now) : undefined;
    rows.push(withCredit(deposit, cents, transfer));
    creditedCents += cents;
    if (i < SINGLE_CREDITS_MAX) togetherUnits = 0n;
    last = transfer ?? last;
  }
  return { rows, last };
}

/** Each that would add to what is counted, by itself. */
function withheldDeposits(
  topup: TopupRow,
  counted: readonly DepositRow[],
  due: readonly DepositRow[],
): DepositRow[] {
  const worth = new RunningWorth(topup);
  for (const deposit of counted) worth.add(deposit);
  const { cents } = worth;
  return due
    .filter((deposit) => worth.withPayment(deposit) > cents)
    .map((deposit) => ({ ...deposit, held: true }));
}

/** Cents credited for these payments. */
export function sumCents(deposits: readonly DepositRow[]): bigint {
  return deposits.reduce((sum, deposit) => sum + (deposit.credited_cents ?? 0n), 0n);
}

function withoutCredit(deposit: DepositRow): DepositRow {
  return { ...deposit, credited_cents: null, credit_transfer_id: null };
}

function withCredit(deposit: DepositRow, cents: bigint, transfer: Transfer | undefined): DepositRow {
  const credits = deposit.credits + (transfer ? 1 : 0);
  return { ...deposit, credits, credited_cents: cents, credit_transfer_id: transfer?.id ?? null };
}

async function creditDeposit(
  tx: Sql,
  topup: TopupRow,
  deposit: DepositRow,
  { cents, amountUnits }: { readonly cents: bigint; readonly amountUnits: bigint },
  now: Date,
): Promise<Transfer> {
  const amount = formatUnits(amountUnits, coinOf(topup.coin).decimals);
  return await credit(
    tx,
    {
      customerId: topup.customer_id,
      account: 'deposits',
      amountCents: cents,
      type: 'topup',
      resource: { kind: 'topup', id: topup.id },
      description: `Top-up: ${amount} ${topup.coin}`,
      fact: `deposit:${topup.coin}:${deposit.key}:${deposit.credits + 1}`,
    },
    now,
  );
}

/** Pays what is still missing to the bonus of the whole credit. It belongs to the credit that reached its tier. */
async function payBonus(
  tx: Sql,
  topup: TopupRow,
  creditedCents: bigint,
  cause: Transfer | undefined,
  now: Date,
): Promise<Pick<BookingResult, 'bonusTransfers' | 'bonusPaidCents'>> {
  const paid = { bonusTransfers: topup.bonus_transfers, bonusPaidCents: topup.bonus_paid_cents };
  const amountCents = bonusCents(creditedCents) - paid.bonusPaidCents;
  if (!cause || amountCents <= 0n) return paid;
  const bonus = await credit(
    tx,
    {
      customerId: topup.customer_id,
      account: 'bonuses',
      amountCents,
      type: 'bonus',
      resource: { kind: 'topup', id: topup.id },
      description: 'Top-up bonus',
      fact: `bonus:${topup.id}:${cause.id}`,
    },
    now,
  );
  return {
    bonusTransfers: [...paid.bonusTransfers, bonus.id],
    bonusPaidCents: paid.bonusPaidCents + amountCents,
  };
}

/** Reverses every credit and bonus of the invoice. The balance may go below zero: the coins are gone. */
async function reverseCredits(
  tx: Sql,
  topup: TopupRow,
  credited: readonly DepositRow[],
  now: Date,
): Promise<void> {
  for (const { credit_transfer_id: transferId } of credited) {
    const description = 'Top-up taken back: a payment left the chain';
    if (transferId) await reverse(tx, { transferId, description }, now);
  }
  for (const transferId of topup.bonus_transfers) {
    await reverse(tx, { transferId, description: 'Top-up bonus taken back' }, now);
  }
  crashPoint('credit.reversed');
}
