/**
 * Keys of transfers inside transactions. A contract may pay another amount, or somebody else, when its transaction comes into another
 * block: a swap that pays out at the price of the moment. A key must not be the same then, for what it pays is known by it. And nodes
 * of different make do not agree on the place of a transfer: some leave calls of built-in contracts out of their traces, some tell
 * of destroyed contracts later. So a key is the transfer itself, with a number for those that are alike:
 * `txid:address:amount:0`.
 */

export interface Transfer {
  /** Unique on the coin, and the same in whatever block the transaction is. */
  readonly key: string;
  readonly txid: string;
  /** As `allocate` spells it. */
  readonly address: string;
  readonly amountUnits: bigint;
}

/** All that these transactions transferred, with keys. */
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

/** What such a key says of its transfer; null for what is none. */
export function parseTransferKey(key: string): Transfer | null {
  const [txid = '', address = '', amount = '', n = '', ...more] = key.split(':');
  if (more.length > 0 || !/^\d{1,78}$/.test(amount) || !/^\d+$/.test(n)) return null;
  return { key, txid, address, amountUnits: BigInt(amount) };
}
