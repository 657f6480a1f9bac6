/**
 * The ledger side of an invoice. Each counted payment is credited the difference that it makes to the joint
 * worth of all counted payments, so tolerance and rounding are exact in any order. When that sum no longer
 * matches, because a credited payment left the chain or moved to a block with another rate, all credits of
 * the invoice are reversed and the remaining payments are credited again, in the same transaction.
 */
import { formatUnits } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { getCoin as coinOf } from '../../../spec/coins.ts';
import type { DepositRow } from '../../../store/topups/deposits.ts';
import type { TopupRow } from '../../../store/topups/topups.ts';
import { credit, reverse, type Transfer } from '../../ledger/transfer.ts';
import { bonusCents } from '../offer.ts';
import { RunningWorth, worthCents } from './pricing.ts';

/** An invoice's payments as on the chain, each list oldest first. */
export interface CreditPlan {
  /** Credited and still valid. */
  readonly kept: readonly DepositRow[];
  /** Credited but no longer valid. */
  readonly fallen: readonly DepositRow[];
  /** Confirmed and not yet credited. */
  readonly due: readonly DepositRow[];
  /** False while crediting is switched off: due payments are withheld. */
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
 * The number of payments per commit with a transfer of their own. If someone sends thousands of outputs,
 * the rest share one transfer under the last payment. It covers the joint difference, including dust that
 * adds up to a cent.
 */
export const SINGLE_CREDITS_MAX = 100;

export async function bookCredits(
  tx: Sql,
  topup: TopupRow,
  plan: CreditPlan,
  now: Date,
): Promise<BookingResult> {
  const { kept, fallen, due, mayCredit } = plan;
  const keptCents = sumCents(kept);
  const reversed = sumCents(fallen) > 0n || worthCents(topup, kept) !== keptCents;
  if (reversed) await reverseCredits(tx, topup, [...kept, ...fallen], now);
  // A repeated credit is not new, so the switch does not withhold it.
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

/**
 * Credits payments in addition to the valid ones. Returns their rows, oldest first, and the last transfer.
 */
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

/** Marks due payments as withheld if they would add to the counted ones. */
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

/** Returns the cents credited for these payments. */
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

/** Pays the difference to the bonus of the total credit. The fact names the credit that reached the tier. */
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

/** Reverses every credit and bonus of the invoice. The balance may become negative: the coins are gone. */
async function reverseCredits(
  tx: Sql,
  topup: TopupRow,
  credited: readonly DepositRow[],
  now: Date,
): Promise<void> {
  for (const { credit_transfer_id: transferId } of credited) {
    const description = 'Top-up reversed: a payment left the chain';
    if (transferId) await reverse(tx, { transferId, description }, now);
  }
  for (const transferId of topup.bonus_transfers) {
    await reverse(tx, { transferId, description: 'Top-up bonus reversed' }, now);
  }
}
