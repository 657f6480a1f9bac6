/** One payment: what an observation makes of its row, and whether it stands firm enough to be credited. */
import type { Observation } from '../../ports/chain.ts';
import type { CoinCode } from '../../spec/coins.ts';
import type { DepositRow } from '../../store/deposits.ts';
import type { TopupRow } from '../../store/topups.ts';
import { isLate } from './pricing.ts';
import { isPresent } from './status.ts';

type Seen = Pick<DepositRow, 'state' | 'confirmations' | 'height' | 'block_hash' | 'included_at'>;

export function inBlock(state: DepositRow['state']): boolean {
  return state === 'included' || state === 'final';
}

/** Whether the chain tells anything new. A final payment stays as it is however deep its block gets. */
export function isNews(known: DepositRow | undefined, observation: Observation, now: Date): boolean {
  // What was never seen and is gone, or pays nothing, need not be remembered.
  if (!known) return observation.amountUnits > 0n && isPresent(observation);
  const seen = whatIsSeen(known, observation, now);
  if (seen.state !== known.state || seen.block_hash !== known.block_hash || seen.height !== known.height)
    return true;
  return seen.state !== 'final' && seen.confirmations !== known.confirmations;
}

/** The row after the observation. `quote` is the rate of now, needed only by what is included late. */
export function observedDeposit(
  known: DepositRow | undefined,
  observation: Observation,
  to: { readonly topup: TopupRow; readonly now: Date; readonly quote: string | null },
): DepositRow {
  const row = known ?? newDeposit(to.topup.coin, to.topup.id, observation, to.now);
  const seen = whatIsSeen(known, observation, to.now);
  const late = isLate(to.topup, seen.included_at);
  return { ...row, ...seen, rate_at_inclusion: row.rate_at_inclusion ?? (late ? to.quote : null) };
}

function whatIsSeen(known: DepositRow | undefined, observation: Observation, now: Date): Seen {
  const { state, confirmations } = observation;
  if (!inBlock(state)) return { state, confirmations: 0, height: null, block_hash: null, included_at: null };
  const { height, blockHash } = observation;
  // A chain that tells no block times: the moment it was first found in this block.
  const found = known?.block_hash === blockHash ? known?.included_at : null;
  const includedAt = observation.blockTime ?? found ?? now;
  return { state, confirmations, height, block_hash: blockHash, included_at: includedAt };
}

function newDeposit(coin: CoinCode, topupId: string, observation: Observation, now: Date): DepositRow {
  return {
    coin,
    key: observation.key,
    topup_id: topupId,
    txid: observation.txid,
    amount_units: observation.amountUnits,
    state: observation.state,
    confirmations: 0,
    height: null,
    block_hash: null,
    included_at: null,
    rate_at_inclusion: null,
    held: false,
    refunded_at: null,
    credits: 0,
    credited_cents: null,
    credit_transfer_id: null,
    first_seen_at: now,
  };
}

/** Whether a payment would be priced by the rate of now. */
export function needsQuote(
  topup: TopupRow,
  known: DepositRow | undefined,
  observation: Observation,
  now: Date,
): boolean {
  if (known?.rate_at_inclusion || !inBlock(observation.state)) return false;
  return isLate(topup, whatIsSeen(known, observation, now).included_at);
}

export function isConfirmed(deposit: Seen, required: number): boolean {
  return inBlock(deposit.state) && deposit.confirmations >= required;
}

/**
 * Whether a credit stands. What was confirmed in its block stays credited, though the invoice may need more
 * confirmations by now because more arrived; in another block it must be confirmed anew.
 */
export function stands(deposit: DepositRow, before: DepositRow | undefined, required: number): boolean {
  if (!inBlock(deposit.state) || deposit.confirmations < 1) return false;
  const sameBlock = !before || before.block_hash === deposit.block_hash;
  return sameBlock || isConfirmed(deposit, required);
}
