/** What the wallet saw since a block. */
import type { Observation, Polled } from '../../../ports/chain.ts';
import { fieldsOf, maybeList, textOf } from '../answers.ts';
import { type Cursor, cursorText } from '../cursor.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { NodeBehind } from '../node-behind.ts';
import { NodeError, NodeSlow, NodeTooLong } from '../node-http.ts';
import { listedOutputs, type Output } from './outputs.ts';
import { headerOf, INTERNAL, NOT_FOUND } from './rpc.ts';
import { inNoBlock, observeAll } from './waiting.ts';

/** Payments in blocks that one poll tells; a block is never cut in two. */
export const MOST = 500;
/** Payments in no block that are told at once. */
const MOST_WAITING = 500;
const WAITING_MAX_BYTES = 8 * 1024 ** 2;
const UNKNOWN: ReadonlySet<number> = new Set([NOT_FOUND, INTERNAL]);

/**
 * The list since a block has no upper end, and all that waits is in each of them: whoever pays in very many parts makes it longer than
 * can be read, and it never becomes shorter. Then the chain is walked block by block.
 */
export class ListTooLong extends Error {
  override readonly name = 'ListTooLong';
}

export interface ReadFrom {
  readonly cursor: Cursor | null;
  /** Of the newest block. */
  readonly tipHeight: number;
  /** How far to go back where there is no cursor, and where the node does not know its block. */
  readonly lookBackBlocks: number;
}

export interface ListOptions extends ReadFrom {
  /** To go back as far in any case. */
  readonly lookBack: boolean;
  readonly maxBytes: number;
}

interface Listed {
  /** Null: it was not asked for. */
  readonly lastHash: string | null;
  readonly outputs: readonly Output[];
  /** Those that left a block. */
  readonly left: ReadonlySet<string>;
}

/** Throws NodeBehind, and ListTooLong. */
export async function readSince(
  rpc: JsonRpc,
  options: ListOptions,
): Promise<{ readonly polled: Polled; readonly height: number }> {
  const { cursor } = options;
  const fromCursor = cursor === null ? null : await listSince(rpc, cursor.hash, options);
  const fromBefore = await foundBefore(rpc, fromCursor, options);
  const lastHash = fromBefore?.lastHash ?? fromCursor?.lastHash;
  if (!lastHash) throw new Error('the chain changed while it was read');
  const tip = await cursorAt(rpc, lastHash, cursor);
  if (cursor !== null && tip.height < cursor.height) throw new NodeBehind(tip.height, cursor.height);
  // What both tell, the newer one says.
  const outputs = new Map(
    [fromCursor, fromBefore].flatMap((each) => each?.outputs ?? []).map((each) => [each.key, each]),
  );
  // The wallet tells old payments that no block ever took with each poll; who knew one asks for it when it is no longer told.
  const left = fromCursor?.left ?? new Set();
  const observations = await observeAll(rpc, [...outputs.values()], ({ key }) => left.has(key));
  return { polled: bounded(observations, tip), height: tip.height };
}

/** What the wallet may have found late. Null where nobody asks for it. */
async function foundBefore(
  rpc: JsonRpc,
  fromCursor: Listed | null,
  options: ListOptions,
): Promise<Listed | null> {
  if (fromCursor !== null && !options.lookBack) return null;
  const height = (options.cursor?.height ?? options.tipHeight) - options.lookBackBlocks;
  const hash = textOf(await rpc.call('getblockhash', [Math.max(0, height)]), 'a block’s hash');
  try {
    return await listSince(rpc, hash, options);
  } catch (error) {
    if (!(error instanceof ListTooLong) || fromCursor === null) throw error;
    // What it found last stands last in its own order, however old the block.
    return { lastHash: null, outputs: await newestOutputs(rpc), left: new Set() };
  }
}

/** Those that the wallet came to know last: what waits is mostly among them. */
export async function newestOutputs(rpc: JsonRpc): Promise<readonly Output[]> {
  return listedOutputs(
    await rpc.call('listtransactions', ['*', MOST_WAITING, 0, true], { maxBytes: WAITING_MAX_BYTES }),
  );
}

/** Null where the node does not know the block, or not what was in it. Of an orphaned one it tells all since the fork, and what was removed. */
async function listSince(rpc: JsonRpc, hash: string, { maxBytes }: ListOptions): Promise<Listed | null> {
  try {
    const since = fieldsOf(
      await rpc.call('listsinceblock', [hash, 1, true, true], { maxBytes }),
      'what the wallet saw',
    );
    // Both lists tell the present state; a payment that came into another block is in both.
    const left = listedOutputs(maybeList(since.removed, 'what left a block'));
    const outputs = [...left, ...listedOutputs(since.transactions)];
    if (outputs.filter(inNoBlock).length > MOST_WAITING) throw new ListTooLong();
    const lastHash = textOf(since.lastblock, 'a block’s hash');
    return { lastHash, outputs, left: new Set(left.map(({ key }) => key)) };
  } catch (error) {
    if (error instanceof NodeError && UNKNOWN.has(error.code)) return null;
    if (error instanceof NodeTooLong || error instanceof NodeSlow) throw new ListTooLong();
    throw error;
  }
}

async function cursorAt(rpc: JsonRpc, hash: string, cursor: Cursor | null): Promise<Cursor> {
  if (hash === cursor?.hash) return cursor;
  return { height: (await headerOf(rpc, hash)).height, hash };
}

/** After a long time away there may be many: the oldest are told first, and the rest from there on. */
function bounded(observations: readonly Observation[], tip: Cursor): Polled {
  const heights = observations
    .flatMap(({ height }) => (height === null ? [] : [height]))
    .sort((a, b) => a - b);
  const lastHeight = heights[MOST - 1];
  if (lastHeight === undefined || lastHeight === heights.at(-1)) {
    return { cursor: cursorText(tip), observations: [...observations], whole: true };
  }
  const told = observations.filter(({ height }) => height === null || height <= lastHeight);
  const last = told.find(({ height }) => height === lastHeight);
  return {
    cursor: cursorText({ height: lastHeight, hash: last?.blockHash ?? tip.hash }),
    observations: told,
    whole: false,
  };
}
