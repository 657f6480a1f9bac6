/**
 * Reading a chain of accounts (EVM, Tron) block by block. There is no wallet in between that watches addresses: every block's
 * transfers are read, and one question to the index tells which of them are ours, however many addresses were ever given out.
 *
 * A cursor on an orphaned branch goes back to the fork, where the node still knows that branch, else as far as blocks may change;
 * what is above is told again. Payments that are in no block any more are found by the recheck of what is unfinished, which
 * follows whenever the cursor moves.
 */
import type { Observation, OwnAddressLookup, PollResult } from '../../ports/chain.ts';
import { type Cursor, formatCursor, parseCursor } from './cursor.ts';
import { NodeBehind } from './node-behind.ts';
import { removedObservation } from './removed-observation.ts';
import { parseTransferKey, type Transfer } from './transfer-keys.ts';

export type { Transfer } from './transfer-keys.ts';

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
  /** Where it is told along: then a chain at rest is one question. */
  readonly hash?: string;
  /** Blocks up to this one never change. */
  readonly finalHeight: number;
}

export interface BlockSource {
  tip(): Promise<Tip>;
  /** Null above the tip. */
  head(height: number): Promise<BlockHead | null>;
  /** A block of whatever branch; null where the node does not know it any more. Left out where it cannot be asked so. */
  headByHash?(hash: string): Promise<BlockHead | null>;
  /** These heights, both included, in order; throws where one of them is missing. */
  blocks(from: number, to: number): Promise<readonly BlockWithTransfers[]>;
  /** Each of these transactions as the chain of this tip has it; left out where it is in no block. */
  transactions(txids: readonly string[], tip: Tip): Promise<ReadonlyMap<string, IncludedTransaction>>;
}

export interface IncludedTransaction {
  readonly head: BlockHead;
  readonly transfers: readonly Transfer[];
  /** The node does not know any more what all of it transferred: there may be others than these. */
  readonly isPartial?: boolean;
}

export interface WalkOptions {
  /** How far blocks may change; beyond that they are taken for final. */
  readonly rewindBlocks: number;
  /** Read in one poll. */
  readonly maxBlocksPerPoll: number;
  /** How far back the first reading begins, for it may come late; `rewindBlocks` where it is left out. */
  readonly initialBlocks?: number;
}

/**
 * Where the node's final block lags far behind, blocks may change as far back; but what it says may be as wrong as 0. Times
 * `rewindBlocks`.
 */
const MAX_REWIND_FACTOR = 16;

export class BlockWalk {
  readonly #source: BlockSource;
  readonly #own: OwnAddressLookup;
  readonly #options: WalkOptions;
  /** How high the node was. Another process knows no more than the cursor, and that does: this is only told sooner. */
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
    // Only where the cursor is at the tip.
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
    const txids = [...new Set(keys.map((key) => removedObservation(key).txid))];
    const found = await this.#source.transactions(txids, tip);
    return keys.map((key) => {
      const transaction = found.get(removedObservation(key).txid);
      if (!transaction) return removedObservation(key);
      const { head, transfers, isPartial = false } = transaction;
      // In a block newer than the tip was when it was asked for.
      const now = { ...tip, height: Math.max(tip.height, head.height) };
      const transfer = transfers.find((each) => each.key === key);
      if (transfer) return toObservation(transfer, head, now);
      const remembered = isPartial ? parseTransferKey(key) : null;
      // It stands, and nobody says what it paid: nothing is credited by it, nor taken back, until a node can tell.
      return remembered
        ? { ...toObservation(remembered, head, now), state: 'included', agreed: false }
        : removedObservation(key);
    });
  }

  /** A node that was put back knows nothing of payments that stand: nothing is said of them until it is as high again. */
  async #tipAtLeast(height: number): Promise<Tip> {
    const tip = await this.#source.tip();
    const readTo = Math.max(height, this.#tipHeight);
    if (tip.height < readTo) throw new NodeBehind(tip.height, readTo);
    this.#tipHeight = tip.height;
    return tip;
  }

  async #firstUnread(cursor: Cursor | null, tip: Tip): Promise<number> {
    const { rewindBlocks, initialBlocks = rewindBlocks } = this.#options;
    // An invoice may have been paid before its coin was first read.
    if (cursor === null) return Math.max(0, tip.height - initialBlocks);
    const atCursor = tip.height === cursor.height ? tip.hash : undefined;
    const same = (atCursor ?? (await this.#source.head(cursor.height))?.hash) === cursor.hash;
    if (same) return cursor.height + 1;
    const fork = await this.#findForkHeight(cursor);
    if (fork !== null) return fork + 1;
    const back = Math.min(cursor.height - rewindBlocks, tip.finalHeight);
    return Math.max(0, back, cursor.height - MAX_REWIND_FACTOR * rewindBlocks);
  }

  /** The newest block that the cursor's branch and the chain have both; null where nobody knows. */
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

/** The chain may have changed while it was read: then it is read again. */
function requireContiguous(
  blocks: readonly BlockWithTransfers[],
  range: { readonly first: number; readonly last: number; readonly cursor: Cursor | null },
): BlockWithTransfers {
  const { first, last, cursor } = range;
  let parent = cursor !== null && first === cursor.height + 1 ? cursor.hash : null;
  let height = first;
  for (const block of blocks) {
    if (block.height !== height) throw new Error('the node gave another block than it was asked for');
    if (parent !== null && block.parentHash !== parent)
      throw new Error('the chain changed while it was read');
    parent = block.hash;
    height += 1;
  }
  const newest = blocks.at(-1);
  if (newest?.height !== last) throw new Error('the node gave too few blocks');
  return newest;
}

/** Each once, of what pays anything. */
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
