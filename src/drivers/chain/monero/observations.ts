/** What the wallet and its node know of a payment, as an observation. */
import type { Observation } from '../../../ports/chain.ts';
import type { MoneroBlock } from './daemon.ts';
import type { MoneroTransfer } from './wallet.ts';

/** Nothing so deep has ever changed. */
export const FINAL_CONFIRMATIONS = 60;
/**
 * A week. What is locked longer is no payment that anybody waits for, and there may be many: it is final without a confirmation, so
 * that it is never credited, nor asked for again.
 */
export const MAX_LOCK_BLOCKS = 5_040;
/** An unlock time below this is a height, above it a time in seconds. */
const UNLOCK_HEIGHT_LIMIT = 500_000_000n;

/** An address is never given out twice, and one transaction's outputs to one address are one payment. */
export function transferKey(transfer: Pick<MoneroTransfer, 'txid' | 'minor'>): string {
  return `${transfer.txid}:${transfer.minor}`;
}

/** Null where the key is none of ours. */
export function parseKey(key: string): { readonly txid: string; readonly minor: number } | null {
  const match = /^([0-9a-f]{64}):(\d{1,9})$/.exec(key);
  return match ? { txid: match[1] ?? '', minor: Number(match[2]) } : null;
}

export function observePooled(transfer: MoneroTransfer, doubleSpent = transfer.doubleSpent): Observation {
  return {
    ...baseObservation(transfer),
    state: doubleSpent ? 'conflicted' : 'mempool',
    confirmations: 0,
    height: null,
    blockHash: null,
    blockTime: null,
  };
}

/** `block` is the one of the node's chain that it is in. */
export function observeIncluded(transfer: MoneroTransfer, block: MoneroBlock, tip: MoneroBlock): Observation {
  // Who sends may lock what is sent, for ever if they like: until it can be spent it confirms nothing.
  const deep = tip.height - block.height + 1;
  const isLocked = !isUnlocked(transfer.unlockTime, tip);
  const confirmations = isLocked ? 0 : deep;
  return {
    ...baseObservation(transfer),
    state: deep >= (isLocked ? MAX_LOCK_BLOCKS : FINAL_CONFIRMATIONS) ? 'final' : 'included',
    confirmations,
    height: block.height,
    blockHash: block.hash,
    blockTime: block.time,
  };
}

function baseObservation(
  transfer: MoneroTransfer,
): Pick<Observation, 'key' | 'txid' | 'address' | 'amountUnits' | 'agreed'> {
  const { txid, address, amountUnits } = transfer;
  return { key: transferKey(transfer), txid, address, amountUnits, agreed: true };
}

/** Whether the block after the tip may spend it. */
export function isUnlocked(unlockTime: bigint, tip: MoneroBlock): boolean {
  if (unlockTime < UNLOCK_HEIGHT_LIMIT) return unlockTime <= BigInt(tip.height + 1);
  return unlockTime * 1000n <= BigInt(tip.time.getTime());
}
