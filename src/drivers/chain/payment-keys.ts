/**
 * Keys for transfers inside transactions. A contract may pay a different amount or a different address when
 * its transaction moves to another block, such as a swap at the current price. The key must then differ,
 * because it identifies what was paid. And node implementations don't agree on a transfer's position: some
 * leave calls of built-in contracts out of traces, some report destroyed contracts later. So the key is the
 * transfer's content, with a number for identical ones: `txid:address:amount:0`. Keys of every coin begin
 * with the txid.
 */
import type { Observation } from '../../ports/chain.ts';

export interface Transfer {
  /** Unique on the coin, and the same in any block that contains the transaction. */
  readonly key: string;
  readonly txid: string;
  /** As `allocate` spells it. */
  readonly address: string;
  readonly amountUnits: bigint;
}

/** Adds keys to all transfers of these transactions. */
export function assignKeys(transfers: Iterable<Omit<Transfer, 'key'>>): Transfer[] {
  const counts = new Map<string, number>();
  const all: Transfer[] = [];
  for (const transfer of transfers) {
    const base = `${transfer.txid}:${transfer.address}:${transfer.amountUnits}`;
    const n = counts.get(base) ?? 0;
    counts.set(base, n + 1);
    all.push({ ...transfer, key: `${base}:${n}` });
  }
  return all;
}

/** Returns the transfer that a key describes; null for another kind of key. */
export function parseTransferKey(key: string): Transfer | null {
  const [txid = '', address = '', amount = '', n = '', ...more] = key.split(':');
  if (more.length > 0 || !/^\d{1,78}$/.test(amount) || !/^\d+$/.test(n)) return null;
  return { key, txid, address, amountUnits: BigInt(amount) };
}

export function txidOf(key: string): string {
  return key.split(':', 1)[0] ?? key;
}

/** Observes a payment that the chain no longer has. */
export function removedObservation(key: string): Observation {
  return {
    key,
    txid: txidOf(key),
    address: '',
    amountUnits: 0n,
    state: 'removed',
    confirmations: 0,
    height: null,
    blockHash: null,
    blockTime: null,
    agreed: true,
  };
}
