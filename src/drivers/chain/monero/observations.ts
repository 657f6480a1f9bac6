/** Converts transfers of the wallet into observations. */
import type { Observation } from '../../../ports/chain.ts';
import type { MoneroBlock } from './daemon.ts';
import type { MoneroTransfer } from './wallet.ts';

/** No reorganization has ever been this deep. */
export const FINAL_CONFIRMATIONS = 60;
/**
 * One week. A payment locked for longer is useless to us, and there may be many: it becomes final with no
 * confirmations, so that it is neither credited nor rechecked.
 */
export const MAX_LOCK_BLOCKS = 5_040;
/** An unlock time below this is a height, above it a time in seconds. */
const UNLOCK_HEIGHT_LIMIT = 500_000_000n;

/** An address is never assigned twice, and one transaction's outputs to one address count as one payment. */
export function transferKey(transfer: Pick<MoneroTransfer, 'txid' | 'minor'>): string {
  return `${transfer.txid}:${transfer.minor}`;
}

/** Returns null for text that `transferKey` did not create. `minor` is the index of the subaddress. */
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

/** `block` is the node's block that contains the transfer. */
export function observeIncluded(transfer: MoneroTransfer, block: MoneroBlock, tip: MoneroBlock): Observation {
  // A sender may lock a payment, even permanently: until it can be spent, it has no confirmations.
  const depth = tip.height - block.height + 1;
  const isLocked = !isUnlocked(transfer.unlockTime, tip);
  const confirmations = isLocked ? 0 : depth;
  return {
    ...baseObservation(transfer),
    state: depth >= (isLocked ? MAX_LOCK_BLOCKS : FINAL_CONFIRMATIONS) ? 'final' : 'included',
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
  // A second node may still disagree (cross-checked.ts).
  return { key: transferKey(transfer), txid, address, amountUnits, agreed: true };
}

/** Whether it can be spent in the block after the tip. */
export function isUnlocked(unlockTime: bigint, tip: MoneroBlock): boolean {
  if (unlockTime < UNLOCK_HEIGHT_LIMIT) return unlockTime <= BigInt(tip.height + 1);
  return unlockTime * 1000n <= BigInt(tip.time.getTime());
}
