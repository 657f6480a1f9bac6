/** Movements of value in successful transactions, of ether or of the token. */
import { hex } from '@scure/base';
import { evmAddress } from '../addresses.ts';
import { assignKeys, type Transfer } from '../payment-keys.ts';
import type { EvmBlockHead, Receipt } from './node.ts';

export interface Movement {
  readonly txid: string;
  /** Lowercase, with `0x`. */
  readonly to: string;
  readonly amountUnits: bigint;
}

export interface IncludedReceipt {
  readonly head: EvmBlockHead;
  readonly receipt: Receipt;
}

export interface ReadMovements {
  readonly movements: readonly Movement[];
  /** The node can't trace the block: there may be more movements. */
  readonly isPartial: boolean;
}

export interface MovementReader {
  /** Returns the movements of each block, in order. */
  readBlocks(heads: readonly EvmBlockHead[]): Promise<(readonly Movement[])[]>;
  /** Returns the movements of successful transactions, each in its block, by txid. */
  readTransactions(found: readonly IncludedReceipt[]): Promise<ReadonlyMap<string, ReadMovements>>;
}

/** Adds keys and converts addresses to the checksummed form. */
export function toTransfers(movements: readonly Movement[]): Transfer[] {
  const checksummed = new Map<string, string>();
  return assignKeys(
    movements.map(({ txid, to, amountUnits }) => {
      const address = checksummed.get(to) ?? evmAddress(hex.decode(to.slice(2)));
      checksummed.set(to, address);
      return { txid, address, amountUnits };
    }),
  );
}
