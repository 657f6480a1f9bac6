/** What the wallet saw since a block. */
import type { Observation, PollResult } from '../../../ports/chain.ts';
import { type Cursor, formatCursor } from '../cursor.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asObject, asString, optionalArray } from '../json-values.ts';
import { NodeBehind } from '../node-behind.ts';
import { NodeError, NodeResponseTooLarge, NodeTimeout } from '../node-http.ts';
import { type Output, parseListedOutputs } from './outputs.ts';
import { getBlockHeader, INTERNAL_ERROR, NOT_FOUND } from './rpc.ts';
import { isUnconfirmed, observeOutputs } from './unconfirmed.ts';

/** Payments in blocks that one poll tells; a block is never cut in two. */
export const MAX_PAYMENTS_PER_POLL = 500;
/** Payments in no block that are told at once. */
const MAX_UNCONFIRMED = 500;
const UNCONFIRMED_MAX_BYTES = 8 * 1024 ** 2;
const UNKNOWN_BLOCK_CODES: ReadonlySet<number> = new Set([NOT_FOUND, INTERNAL_ERROR]);

/**
 * The list since a block has no upper end, and all that waits is in each of them: whoever pays in very many parts makes it longer than
 * can be read, and it never becomes shorter. Then the chain is walked block by block.
 */
export class ListTooLong extends Error {
  override readonly name = 'ListTooLong';
}

export interface ReadPosition {
  readonly cursor: Cursor | null;
  /** Of the newest block. */
  readonly tipHeight: number;
  /** How far to go back where there is no cursor, and where the node does not know its block. */
  readonly lookbackBlocks: number;
}

export interface ListOptions extends ReadPosition {
  /** To go back as far in any case. */
  readonly includeLookback: boolean;
  readonly maxBytes: number;
}

interface WalletListing {
  /** Null: it was not asked for. */
  readonly lastHash: string | null;
  readonly outputs: readonly Output[];
  /** Those that left a block. */
  readonly removedKeys: ReadonlySet<string>;
}

/** Throws NodeBehind, and ListTooLong. */
export async function readWalletSince(
  rpc: JsonRpc,
  options: ListOptions,
): Promise<{ readonly polled: PollResult; readonly height: number }> {
  const { cursor } = options;
  const fromCursor = cursor === null ? null : await listSince(rpc, cursor.hash, options);
  const fromBefore = await listBeforeCursor(rpc, fromCursor, options);
  const lastHash = fromBefore?.lastHash ?? fromCursor?.lastHash;
  if (!lastHash) throw new Error('the chain changed while it was read');
  const tip = await cursorAt(rpc, lastHash, cursor);
  if (cursor !== null && tip.height < cursor.height) throw new NodeBehind(tip.height, cursor.height);
  // What both tell, the newer one says.
  const outputs = new Map(
    [fromCursor, fromBefore].flatMap((each) => each?.outputs ?? []).map((each) => [each.key, each]),
  );
  // The wallet tells old payments that no block ever took with each poll; who knew one asks for it when it is no longer told.
  const left = fromCursor?.removedKeys ?? new Set();
  const observations = await observeOutputs(rpc, [...outputs.values()], ({ key }) => left.has(key));
  return { polled: capObservations(observations, tip), height: tip.height };
}

/** What the wallet may have found late. Null where nobody asks for it. */
async function listBeforeCursor(
  rpc: JsonRpc,
  fromCursor: WalletListing | null,
  options: ListOptions,
): Promise<WalletListing | null> {
  if (fromCursor !== null && !options.includeLookback) return null;
  const height = (options.cursor?.height ?? options.tipHeight) - options.lookbackBlocks;
  const hash = asString(await rpc.call('getblockhash', [Math.max(0, height)]), 'a block’s hash');
  try {
    return await listSince(rpc, hash, options);
  } catch (error) {
    if (!(error instanceof ListTooLong) || fromCursor === null) throw error;
    // What it found last stands last in its own order, however old the block.
    return { lastHash: null, outputs: await listNewestOutputs(rpc), removedKeys: new Set() };
  }
}

/** Those that the wallet came to know last: what waits is mostly among them. */
export async function listNewestOutputs(rpc: JsonRpc): Promise<readonly Output[]> {
  return parseListedOutputs(
    await rpc.call('listtransactions', ['*', MAX_UNCONFIRMED, 0, true], { maxBytes: UNCONFIRMED_MAX_BYTES }),
  );
}

/** Null where the node does not know the block, or not what was in it. Of an orphaned one it tells all since the fork, and what was removed. */
async function listSince(
  rpc: JsonRpc,
  hash: string,
  { maxBytes }: ListOptions,
): Promise<WalletListing | null> {
  try {
    const since = asObject(
      await rpc.call('listsinceblock', [hash, 1, true, true], { maxBytes }),
      'what the wallet saw',
    );
    // Both lists tell the present state; a payment that came into another block is in both.
    const left = parseListedOutputs(optionalArray(since.removed, 'what left a block'));
    const outputs = [...left, ...parseListedOutputs(since.transactions)];
    if (outputs.filter(isUnconfirmed).length > MAX_UNCONFIRMED) throw new ListTooLong();
    const lastHash = asString(since.lastblock, 'a block’s hash');
    return { lastHash, outputs, removedKeys: new Set(left.map(({ key }) => key)) };
  } catch (error) {
    if (error instanceof NodeError && UNKNOWN_BLOCK_CODES.has(error.code)) return null;
    if (error instanceof NodeResponseTooLarge || error instanceof NodeTimeout) throw new ListTooLong();
    throw error;
  }
}

async function cursorAt(rpc: JsonRpc, hash: string, cursor: Cursor | null): Promise<Cursor> {
  if (hash === cursor?.hash) return cursor;
  return { height: (await getBlockHeader(rpc, hash)).height, hash };
}

/** After a long time away there may be many: the oldest are told first, and the rest from there on. */
function capObservations(observations: readonly Observation[], tip: Cursor): PollResult {
  const heights = observations
    .flatMap(({ height }) => (height === null ? [] : [height]))
    .sort((a, b) => a - b);
  const lastHeight = heights[MAX_PAYMENTS_PER_POLL - 1];
  if (lastHeight === undefined || lastHeight === heights.at(-1)) {
    return { cursor: formatCursor(tip), observations: [...observations], isComplete: true };
  }
  const told = observations.filter(({ height }) => height === null || height <= lastHeight);
  const last = told.find(({ height }) => height === lastHeight);
  return {
    cursor: formatCursor({ height: lastHeight, hash: last?.blockHash ?? tip.hash }),
    observations: told,
    isComplete: false,
  };
}
