/** A transfer of value to an address, in a transaction that succeeded. */
import { hex } from '@scure/base';
import { evmAddress } from '../addresses.ts';
import type { Transfer } from '../block-walk.ts';
import { assignKeys } from '../transfer-keys.ts';

export interface Movement {
  readonly txid: string;
  /** Lowercase, with `0x`. */
  readonly to: string;
  readonly amountUnits: bigint;
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
