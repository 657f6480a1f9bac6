/**
 * The chain port: drivers only observe; the settlement engine credits. A driver holds no key that can spend.
 */

export type ObservationState = 'mempool' | 'included' | 'final' | 'removed' | 'conflicted';

/** One output (or log, or transfer) that pays an address of ours, as the chain has it now. */
export interface Observation {
  /** Unique on its coin for ever: `txid:vout`, `txid:log`, … */
  readonly key: string;
  readonly txid: string;
  /** Spelled as `allocate` gave it; empty for a `removed` output that the chain knows nothing of any more. */
  readonly address: string;
  /** In the coin's smallest unit; 0 where the address is empty. */
  readonly amountUnits: bigint;
  readonly state: ObservationState;
  /** 0 in the mempool, 1 in the newest block. */
  readonly confirmations: number;
  readonly height: number | null;
  readonly blockHash: string | null;
  /** The block's own time, on the chain's clock. */
  readonly blockTime: Date | null;
}

export interface Deposit {
  readonly address: string;
  /** What a wallet opens; for Tron the bare address. */
  readonly uri: string;
}

export interface ChainDriver {
  readonly coin: string;
  /**
   * A fresh address for this invoice; the same invoice always gets the same one. `index` is its number in
   * the coin's derivation, never used for another invoice. `amountUnits` only shapes the URI.
   */
  allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit>;
  /**
   * Everything that changed since `cursor` (`height:hash`, null at the beginning) and everything in the mempool.
   * A cursor on an orphaned branch rewinds: what was above the fork is reported again, `removed` where it is gone.
   */
  poll(from: { cursor: string | null }): Promise<{ cursor: string; observations: Observation[] }>;
  /** The present state of each key; one that the chain no longer has is `removed`. */
  recheck(keys: readonly string[]): Promise<Observation[]>;
  health(): Promise<{ ok: boolean; height: number; detail: string }>;
}
