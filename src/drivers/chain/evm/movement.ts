/** Value that went to an address, in a transaction that stands. */
import { hex } from '@scure/base';
import { evmAddress } from '../addresses.ts';
import type { Transfer } from '../block-walk.ts';
import { assignKeys } from '../transfer-keys.ts';

export interface Movement {
  readonly txid: string;
  /** In lower case, with `0x`. */
  readonly to: string;
  readonly amountUnits: bigint;
}

/** With the address as a wallet writes it, and a key. */
export function toTransfers(movements: readonly Movement[]): Transfer[] {
  const spelled = new Map<string, string>();
  return assignKeys(
    movements.map(({ txid, to, amountUnits }) => {
      const address = spelled.get(to) ?? evmAddress(hex.decode(to.slice(2)));
      spelled.set(to, address);
      return { txid, address, amountUnits };
    }),
  );
}
