/** What pays whom in a block, as `getblock` tells it. */

export interface StubPayment {
  readonly txid: string;
  readonly vout?: number;
  readonly address: string;
  /** As it stands in the JSON. */
  readonly amount: string;
  /** Of its block; null: in none. */
  height: number | null;
  category?: string;
  inMempool?: boolean;
  /** What proves that it may be spent. */
  readonly witness?: readonly string[];
  /** The wallet does not know it; the chain has it. */
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
