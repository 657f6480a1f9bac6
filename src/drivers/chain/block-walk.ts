/**
 * Reads an account-based chain (EVM, Tron) block by block. No wallet watches addresses: every block's
 * transfers are read, and one indexed query finds those to our addresses, however many were ever assigned.
 *
 * A cursor on an orphaned branch rewinds to the fork if the node still knows that branch, otherwise as far as
 * blocks may change; everything above is reported again. Payments that left their block are found by
 * the recheck of unfinished payments, which runs whenever the cursor moves.
 */
import type { Observation, OwnAddressLookup, PollResult } from '../../ports/chain.ts';
import { type Cursor, formatCursor, NodeBehind, parseCursor } from './cursor.ts';
import { parseTransferKey, removedObservation, type Transfer, txidOf } from './payment-keys.ts';

export interface BlockHead {
  readonly height: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly time: Date;
}

export interface BlockWithTransfers extends BlockHead {
  readonly transfers: readonly Transfer[];
}

export interface Tip {
  readonly height: number;
  /** If the source returns it along with the height, polling an idle chain takes one request. */
  readonly hash?: string;
  /** Blocks up to this height never change. */
  readonly finalHeight: number;
}

export interface BlockSource {
  tip(): Promise<Tip>;
  /** Returns null above the tip. */
  head(height: number): Promise<BlockHead | null>;
  /** Returns a block of any branch; null if the node lacks it. Absent if it can't look up hashes. */
  headByHash?(hash: string): Promise<BlockHead | null>;
  /** Returns the blocks at these heights, both inclusive, in order; throws if one is missing. */
  blocks(from: number, to: number): Promise<readonly BlockWithTransfers[]>;
  /** Returns each transaction as of this tip; leaves out those in no block. */
  transactions(txids: readonly string[], tip: Tip): Promise<ReadonlyMap<string, IncludedTransaction>>;
}

export interface IncludedTransaction {
  readonly head: BlockHead;
  readonly transfers: readonly Transfer[];
  /** The node no longer knows everything that the transaction transferred: there may be more transfers. */
  readonly isPartial?: boolean;
}

export interface WalkOptions {
  /** How far back blocks may change; deeper blocks are treated as final. */
  readonly rewindBlocks: number;
  /** Maximum blocks read in one poll. */
  readonly maxBlocksPerPoll: number;
  /** How far back the first poll starts, because it may come late; defaults to `rewindBlocks`. */
  readonly initialBlocks?: number;
}

/**
 * If the node's final height lags far behind, blocks may change that far back. But the node could report any
 * height, even 0, so the rewind is limited to this multiple of `rewindBlocks`.
 */
const MAX_REWIND_FACTOR = 16;

export class BlockWalk {
  readonly #source: BlockSource;
  readonly #own: OwnAddressLookup;
  readonly #options: WalkOptions;
  /** The highest tip seen by this process. The cursor also detects a node that fell behind, only later. */
  #tipHeight = 0;

  constructor(source: BlockSource, own: OwnAddressLookup, options: WalkOptions) {
    this.#source = source;
    this.#own = own;
    this.#options = options;
  }

  async poll(from: { readonly cursor: string | null }): Promise<PollResult> {
    const cursor = parseCursor(from.cursor);
    const tip = await this.#tipAtLeast(cursor?.height ?? 0);
    const first = await this.#firstUnread(cursor, tip);
    // Only possible when the cursor is at the tip.
    if (first > tip.height) return { cursor: from.cursor ?? '', observations: [], isComplete: true };
    const last = Math.min(tip.height, first + this.#options.maxBlocksPerPoll - 1);
    const blocks = await this.#source.blocks(first, last);
    const newest = requireContiguous(blocks, { first, last, cursor });
    const own = await this.#own(paidAddresses(blocks));
    const observations = blocks.flatMap((block) =>
      block.transfers
        .filter(({ address, amountUnits }) => amountUnits > 0n && own.has(address))
        .map((transfer) => toObservation(transfer, block, tip)),
    );
    return { cursor: formatCursor(newest), observations, isComplete: newest.height === tip.height };
  }

  async recheck(keys: readonly string[]): Promise<Observation[]> {
    const tip = await this.#tipAtLeast(0);
    const txids = [...new Set(keys.map(txidOf))];
    const found = await this.#source.transactions(txids, tip);
    return keys.map((key) => {
      const transaction = found.get(txidOf(key));
      if (!transaction) return removedObservation(key);
      const { head, transfers, isPartial = false } = transaction;
      // The block may be newer than the tip that was read before.
      const now = { ...tip, height: Math.max(tip.height, head.height) };
      const transfer = transfers.find((each) => each.key === key);
      if (transfer) return toObservation(transfer, head, now);
      const remembered = isPartial ? parseTransferKey(key) : null;
      // Still in a block, but the amount can't be verified: neither credit nor reverse it until a node can
      // tell.
      return remembered
        ? { ...toObservation(remembered, head, now), state: 'included', agreed: false }
        : removedObservation(key);
    });
  }

  /** A node restored from a backup doesn't know recent payments: wait until it has caught up. */
  async #tipAtLeast(height: number): Promise<Tip> {
    const tip = await this.#source.tip();
    const readTo = Math.max(height, this.#tipHeight);
    if (tip.height < readTo) throw new NodeBehind(tip.height, readTo);
    this.#tipHeight = tip.height;
    return tip;
  }

  async #firstUnread(cursor: Cursor | null, tip: Tip): Promise<number> {
    const { rewindBlocks, initialBlocks = rewindBlocks } = this.#options;
    // An invoice may have been paid before its coin was first polled.
    if (cursor === null) return Math.max(0, tip.height - initialBlocks);
    const atCursor = tip.height === cursor.height ? tip.hash : undefined;
    const same = (atCursor ?? (await this.#source.head(cursor.height))?.hash) === cursor.hash;
    if (same) return cursor.height + 1;
    const fork = await this.#findForkHeight(cursor);
    if (fork !== null) return fork + 1;
    const back = Math.min(cursor.height - rewindBlocks, tip.finalHeight);
    return Math.max(0, back, cursor.height - MAX_REWIND_FACTOR * rewindBlocks);
  }

  /** Returns the newest block that the cursor's branch and the chain share; null if it can't be found. */
  async #findForkHeight(cursor: Cursor): Promise<number | null> {
    let { hash } = cursor;
    for (let height = cursor.height - 1; height >= cursor.height - this.#options.rewindBlocks; height--) {
      const above = (await this.#source.headByHash?.(hash)) ?? null;
      if (above === null) return null;
      hash = above.parentHash;
      if ((await this.#source.head(height))?.hash === hash) return height;
    }
    return null;
  }
}

/** The chain may have changed while it was read; the caller then polls again. */
function requireContiguous(
  blocks: readonly BlockWithTransfers[],
  range: { readonly first: number; readonly last: number; readonly cursor: Cursor | null },
): BlockWithTransfers {
  const { first, last, cursor } = range;
  let parent = cursor !== null && first === cursor.height + 1 ? cursor.hash : null;
  let height = first;
  for (const block of blocks) {
    if (block.height !== height) throw new Error('the node returned a different block than requested');
    if (parent !== null && block.parentHash !== parent) throw new Error('the chain changed during the read');
    parent = block.hash;
    height += 1;
  }
  const newest = blocks.at(-1);
  if (newest?.height !== last) throw new Error('the node returned too few blocks');
  return newest;
}

/** Returns the distinct addresses that receive a positive amount. */
function paidAddresses(blocks: readonly BlockWithTransfers[]): string[] {
  const paid = blocks.flatMap((block) => block.transfers.filter(({ amountUnits }) => amountUnits > 0n));
  return [...new Set(paid.map(({ address }) => address))];
}

function toObservation(transfer: Transfer, head: BlockHead, tip: Tip): Observation {
  return {
    ...transfer,
    state: head.height <= tip.finalHeight ? 'final' : 'included',
    confirmations: tip.height - head.height + 1,
    height: head.height,
    blockHash: head.hash,
    blockTime: head.time,
    agreed: true,
  };
}
