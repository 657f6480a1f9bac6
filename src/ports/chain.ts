/**
 * The chain port: drivers only observe; the settlement engine credits. A driver holds no key that can spend.
 */

export type ObservationState = 'mempool' | 'included' | 'final' | 'removed' | 'conflicted';

/** One output (or log, or transfer) that pays one of our addresses, in its current state on the chain. */
export interface Observation {
  /** Permanently unique for its coin: `txid:vout`, `txid:log`, … */
  readonly key: string;
  readonly txid: string;
  /** Spelled as `allocate` returned it; empty for a `removed` output that the chain no longer knows. */
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
  /**
   * False if a second node was asked and doesn't have it in that block (yet): not credited, but an existing
   * credit stays.
   */
  readonly agreed: boolean;
}

export interface Deposit {
  readonly address: string;
  /** The URI that a wallet opens; for Tron the bare address. */
  readonly uri: string;
}

export interface ChainHealth {
  /** Whether the node's data can be relied on now. */
  readonly ok: boolean;
  /** The height of the newest block. */
  readonly height: number;
  /** When that block was created, on the chain's clock; null if the chain doesn't say. */
  readonly tipAt: Date | null;
  /** Plain text without the node's address or password. */
  readonly detail: string;
}

/** A finding about a coin, for the operator. */
export interface ChainFinding {
  /** `fail`: something does not work; `warn`: needs attention soon; `note`: good to know. */
  readonly level: 'ok' | 'note' | 'warn' | 'fail';
  readonly message: string;
}

/**
 * The node or its wallet must not be used: it could spend, it is on another network, or it holds someone
 * else's keys. Waiting doesn't fix it.
 */
export class UnsafeChainError extends Error {
  override readonly name = 'UnsafeChainError';
}

/** Addresses that the service can't derive: the operator imports them, and they are assigned in order. */
export interface AddressPool {
  /** Returns the invoice's address, assigning the next free one if it has none; null if the pool is empty. */
  allocate(invoiceId: string): Promise<WatchedAddress | null>;
  /** Marks the address as unusable: it stays taken, assigned to no invoice. */
  reject(address: string): Promise<void>;
  /**
   * Assigned addresses that may still be paid, newest first; `after` is the last address of the previous
   * page.
   */
  listWatched(page: {
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly WatchedAddress[]>;
  /** Saves how far an address was read. */
  saveMark(address: string, mark: string): Promise<void>;
  /** Counts the free addresses, up to `max`. */
  countFree(max: number): Promise<number>;
}

export interface WatchedAddress {
  readonly address: string;
  /** How far the address was read, in the driver's format; null if it never was. */
  readonly mark: string | null;
  readonly takenAt: Date;
}

/** Returns the addresses that were assigned for this coin, spelled as `allocate` returned them. */
export type OwnAddressLookup = (addresses: readonly string[]) => Promise<ReadonlySet<string>>;

export interface PollResult {
  readonly cursor: string;
  readonly observations: Observation[];
  /** False if there is more: the next poll continues from the cursor. */
  readonly isComplete: boolean;
  /** Call it after saving the observations and the cursor: it advances the driver's own state. */
  readonly commit?: () => Promise<void>;
}

export interface ChainDriver {
  readonly coin: string;
  /**
   * Throws UnsafeChainError if the node must not be used, and any other error if the node can't be reached.
   */
  checkSafety(): Promise<void>;
  /**
   * Assigns a new address to this invoice; the same invoice always gets the same address. `index` is the
   * invoice's number in the coin's derivation; two invoices never share one. `amountUnits` only affects the
   * URI.
   */
  allocate(invoice: { id: string; index: number; amountUnits: bigint }): Promise<Deposit>;
  /**
   * Returns everything that changed since `cursor` (`height:hash`, null on the first poll) and the whole
   * mempool. A cursor on an orphaned branch rewinds: everything above the fork is reported again, `removed`
   * where it is gone.
   */
  poll(from: { cursor: string | null }): Promise<PollResult>;
  /**
   * Returns the current state of each key, `removed` if the chain no longer has it. `removed` without
   * `agreed` means that the node doesn't know it and may have forgotten it: a payment that was in a block
   * keeps its state.
   */
  recheck(keys: readonly string[]): Promise<Observation[]>;
  /** The network is simulated, so there is no node that could lose it. */
  readonly isSimulated?: true;
  /** Returns the health of the primary node. */
  health(): Promise<ChainHealth>;
  /**
   * Returns findings beyond health: a second node's health, the free addresses, and the gap that the
   * operator's wallet must scan. `nextIndex` is the next derivation index.
   */
  examine(nextIndex: number): Promise<readonly ChainFinding[]>;
}
