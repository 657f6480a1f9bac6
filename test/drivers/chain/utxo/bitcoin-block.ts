/** The transactions of a block, in the format of `getblock`. */

export interface StubPayment {
  readonly txid: string;
  readonly vout?: number;
  readonly address: string;
  /** As a JSON number. */
  readonly amount: string;
  /** Height of the block; null: unconfirmed. */
  height: number | null;
  category?: string;
  inMempool?: boolean;
  /** The signature data. */
  readonly witness?: readonly string[];
  /** The wallet doesn't know it, but the chain has it. */
  forgotten?: boolean;
}

export function transactionsOf(payments: readonly StubPayment[]): object[] {
  return [...Map.groupBy(payments, ({ txid }) => txid)].map(([txid, outputs]) => ({
    txid,
    vin:
      outputs[0]?.category === 'generate'
        ? [{ coinbase: '00' }]
        : [{ txid: 'f'.repeat(64), vout: 0, txinwitness: outputs[0]?.witness ?? [] }],
    vout: outputs.map(({ address, amount, vout = 0 }) => ({
      value: `amount:${amount}`,
      n: vout,
      scriptPubKey: { address, type: 'witness_v0_keyhash' },
    })),
  }));
}
