/** One payment: merges an observation into its row, and decides if it is final enough to be credited. */
import type { Observation } from '../../../ports/chain.ts';
import type { Rate } from '../../../ports/rates.ts';
import type { CoinCode } from '../../../spec/coins.ts';
import type { DepositRow } from '../../../store/topups/deposits.ts';
import type { TopupRow } from '../../../store/topups/topups.ts';
import { isLate, isUnpriced } from './pricing.ts';
import { isPresent } from './status.ts';

type ObservedFields = Pick<
  DepositRow,
  'state' | 'confirmations' | 'height' | 'block_hash' | 'included_at' | 'agreed'
>;

/** The fields that count as a change. */
const OBSERVED_FIELDS = ['state', 'block_hash', 'height', 'agreed', 'confirmations'] as const;

export function isInBlock(state: DepositRow['state']): boolean {
  return state === 'included' || state === 'final';
}

/**
 * Whether the observation adds information. A final payment no longer changes. `foundAt`, here and below,
 * replaces a missing block time: the time up to which the chain was read before, so that a payment during
 * downtime is not late.
 */
export function hasNewInformation(
  known: DepositRow | undefined,
  observation: Observation,
  foundAt: Date,
): boolean {
  // A payment that was never seen and is gone, or pays nothing, is not stored.
  if (!known) return observation.amountUnits > 0n && isPresent(observation);
  // A single node may merely have forgotten the payment, so nothing is reversed.
  const isForgotten = observation.state === 'removed' && !observation.agreed;
  if (isForgotten && isInBlock(known.state)) return false;
  const seen = observedFields(known, observation, foundAt);
  const isAsKnown = (of: (typeof OBSERVED_FIELDS)[number]) => seen[of] === known[of];
  return !OBSERVED_FIELDS.every((of) => isAsKnown(of) || (of === 'confirmations' && seen.state === 'final'));
}

/**
 * Returns the row after the observation, or `known` itself if nothing changed. `quote` is the current rate,
 * needed only for late payments; without one, the payment waits for its rate and is not final until then.
 */
export function mergeObservation(
  known: DepositRow | undefined,
  observation: Observation,
  to: {
    readonly topup: TopupRow;
    readonly now: Date;
    readonly foundAt: Date;
    readonly quote: Rate | null;
  },
): DepositRow {
  const row = known ?? newDeposit(to.topup.coin, to.topup.id, observation, to.now);
  const seen = { ...row, ...observedFields(known, observation, to.foundAt) };
  if (!isUnpriced(to.topup, seen)) return seen;
  if (to.quote !== null) return withRate(seen, to.quote);
  const waiting: DepositRow = { ...seen, state: 'included' };
  return known && OBSERVED_FIELDS.every((of) => waiting[of] === known[of]) ? known : waiting;
}

/** Returns the row as if the payment were in no block, so that nothing is credited. */
export function pendingDeposit(
  known: DepositRow | undefined,
  observation: Observation,
  to: { readonly topup: TopupRow; readonly now: Date },
): DepositRow {
  const row = known ?? newDeposit(to.topup.coin, to.topup.id, observation, to.now);
  return { ...row, ...observedFields(undefined, { ...observation, state: 'mempool' }, to.now) };
}

export function withRate(deposit: DepositRow, { usd, quotes }: Rate): DepositRow {
  return { ...deposit, rate_at_inclusion: usd, quotes_at_inclusion: quotes };
}

function observedFields(
  known: DepositRow | undefined,
  observation: Observation,
  foundAt: Date,
): ObservedFields {
  const { state, confirmations, agreed } = observation;
  if (!isInBlock(state)) {
    return { state, confirmations: 0, height: null, block_hash: null, included_at: null, agreed: true };
  }
  const { height, blockHash } = observation;
  // Without a block time, use the time when the payment was first found in this block.
  const found = known?.block_hash === blockHash ? known?.included_at : null;
  const includedAt = observation.blockTime ?? found ?? foundAt;
  return { state, confirmations, height, block_hash: blockHash, included_at: includedAt, agreed };
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
    quotes_at_inclusion: [],
    agreed: true,
    held: false,
    refunded_at: null,
    credits: 0,
    credited_cents: null,
    credit_transfer_id: null,
    first_seen_at: now,
  };
}

/** Whether the current rate would price the payment. */
export function needsQuote(
  topup: TopupRow,
  known: DepositRow | undefined,
  observation: Observation,
  foundAt: Date,
): boolean {
  if (known?.rate_at_inclusion || !isInBlock(observation.state)) return false;
  return isLate(topup, observedFields(known, observation, foundAt).included_at);
}

export function isConfirmed(deposit: ObservedFields, required: number): boolean {
  return isInBlock(deposit.state) && deposit.agreed && deposit.confirmations >= required;
}

/** Returns the confirmations shown to the payer: 0 while a second node does not have the payment. */
export function shownConfirmations(
  deposit: Pick<DepositRow, 'agreed' | 'credited_cents' | 'confirmations'>,
): number {
  return deposit.agreed || deposit.credited_cents !== null ? deposit.confirmations : 0;
}

/**
 * Whether a credit remains valid. A payment confirmed in its block stays credited even if later payments
 * raise the required confirmations; in another block it must be confirmed again. The second node is ignored
 * here: nothing is reversed while it is behind or silent.
 */
export function creditStands(deposit: DepositRow, before: DepositRow | undefined, required: number): boolean {
  if (!isInBlock(deposit.state) || deposit.confirmations < 1) return false;
  const sameBlock = !before || before.block_hash === deposit.block_hash;
  return sameBlock || deposit.confirmations >= required;
}
