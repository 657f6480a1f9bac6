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
  /** False: a second node was asked and does not have it there (yet). It is not credited; a credit that stands is left. */
  readonly agreed: boolean;
}

export interface Deposit {
  readonly address: string;
  /** What a wallet opens; for Tron the bare address. */
  readonly uri: string;
}

export interface ChainHealth {
  /** Whether what the node says can be relied on now. */
  readonly ok: boolean;
  /** Of its newest block. */
  readonly height: number;
  /** When that block was made, on the chain's clock; null where the chain does not tell. */
  readonly tipAt: Date | null;
  /** In plain words, without an address or a password of the node. */
  readonly detail: string;
}

/** What whoever runs the service should know of a coin. */
export interface ChainFinding {
  /** `fail`: something does not work; `warn`: needs attention soon; `note`: good to know. */
  readonly level: 'ok' | 'note' | 'warn' | 'fail';
  readonly message: string;
}

/**
 * The node or its wallet must not be used: it could spend, it is on another network, it holds somebody else's keys. Nothing
 * that passes with time.
 */
export class UnsafeChainError extends Error {
  override readonly name = 'UnsafeChain';
}

/** Addresses that nobody can derive here: the operator made them elsewhere, and they are given out in their order. */
export interface AddressPool {
  /** The invoice's own, or the next free one that becomes its own; null when there is none left. */
  allocate(invoiceId: string): Promise<WatchedAddress | null>;
  /** It is not fit to be given out: it stays taken, by no invoice. */
  reject(address: string): Promise<void>;
  /** Those given out that may be paid, newest first; `after` and what is left follow the last one of the page before. */
  listWatched(page: {
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly WatchedAddress[]>;
  /** Keeps how far an address was read. */
  saveMark(address: string, mark: string): Promise<void>;
  /** How many are left, counted up to `most`. */
  countFree(max: number): Promise<number>;
}

export interface WatchedAddress {
  readonly address: string;
  /** How far it was read, in its driver's words; null: never. */
  readonly mark: string | null;
  readonly takenAt: Date;
}

/** Which of these addresses were given out for this coin, spelled as `allocate` gave them. */
export type OwnAddressLookup = (addresses: readonly string[]) => Promise<ReadonlySet<string>>;

export interface PollResult {
  readonly cursor: string;
  readonly observations: Observation[];
  /** False: there is more, and the next poll goes on from here. */
  readonly isComplete: boolean;
  /** To be called once all that was told is kept, and the cursor: what the driver itself remembers of it moves on then. */
  readonly commit?: () => Promise<void>;
}

export interface ChainDriver {
  readonly coin: string;
  /** Throws UnsafeChain where the node must not be used, and any other error where it cannot be asked. */
  checkSafety(): Promise<void>;
  /**
   * A fresh address for this invoice; the same invoice always gets the same one. `index` is its number in
   * the coin's derivation, never that of two invoices that were made. `amountUnits` only shapes the URI.
   */
  allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit>;
  /**
   * Everything that changed since `cursor` (`height:hash`, null at the beginning) and everything in the mempool.
   * A cursor on an orphaned branch rewinds: what was above the fork is reported again, `removed` where it is gone.
   */
  poll(from: { cursor: string | null }): Promise<PollResult>;
  /**
   * The present state of each key; one that the chain no longer has is `removed`. `removed` and not `agreed`: the node knows nothing
   * of it, and may only have forgotten it: what was in a block stays as it was told.
   */
  recheck(keys: readonly string[]): Promise<Observation[]>;
  /** Its network is simulated: no node that could lose it. */
  readonly isSimulated?: true;
  /** Of the node that is read. */
  health(): Promise<ChainHealth>;
  /** Beyond its health: that of a second node, how many addresses are left, what gap the operator's wallet must bridge. `given` is the next number. */
  examine(nextIndex: number): Promise<readonly ChainFinding[]>;
}
