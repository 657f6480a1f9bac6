/** Payments that the wallet saw since a block. */
import type { Observation, PollResult } from '../../../ports/chain.ts';
import { type Cursor, formatCursor, NodeBehind } from '../cursor.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asObject, asString, optionalArray } from '../json-values.ts';
import { NodeError, NodeResponseTooLarge, NodeTimeout } from '../node-http.ts';
import { isUnconfirmed, observeOutputs } from './observe.ts';
import { type Output, parseListedOutputs } from './outputs.ts';
import { getBlockHeader, INTERNAL_ERROR, NOT_FOUND } from './rpc.ts';

/** Maximum confirmed payments per poll; a block is never split. */
export const MAX_PAYMENTS_PER_POLL = 500;
/** Maximum unconfirmed payments in one list. */
const MAX_UNCONFIRMED = 500;
const UNCONFIRMED_MAX_BYTES = 8 * 1024 ** 2;
const UNKNOWN_BLOCK_CODES: ReadonlySet<number> = new Set([NOT_FOUND, INTERNAL_ERROR]);

/**
 * `listsinceblock` has no upper end and repeats everything unconfirmed, so a payer with very many small
 * payments can make it too long to read, permanently. Then the chain is walked block by block.
 */
export class ListTooLong extends Error {
  override readonly name = 'ListTooLong';
}

export interface ReadPosition {
  readonly cursor: Cursor | null;
  /** Height of the newest block. */
  readonly tipHeight: number;
  /** How far to go back without a cursor, or if the node doesn't know the cursor's block. */
  readonly lookbackBlocks: number;
}

export interface ListOptions extends ReadPosition {
  /** Whether to go back that far in any case. */
  readonly includeLookback: boolean;
  readonly maxBytes: number;
}

interface WalletListing {
  /** Null: not requested. */
  readonly lastHash: string | null;
  readonly outputs: readonly Output[];
  /** Keys of payments that left a block. */
  readonly removedKeys: ReadonlySet<string>;
}

/** Throws NodeBehind and ListTooLong. */
export async function readWalletSince(
  rpc: JsonRpc,
  options: ListOptions,
): Promise<{ readonly polled: PollResult; readonly height: number }> {
  const { cursor } = options;
  const fromCursor = cursor === null ? null : await listSince(rpc, cursor.hash, options);
  const fromBefore = await listBeforeCursor(rpc, fromCursor, options);
  const lastHash = fromBefore?.lastHash ?? fromCursor?.lastHash;
  if (!lastHash) throw new Error('the chain changed during the read');
  const tip = await cursorAt(rpc, lastHash, cursor);
  if (cursor !== null && tip.height < cursor.height) throw new NodeBehind(tip.height, cursor.height);
  // If both lists have a payment, the second one is newer.
  const outputs = new Map(
    [fromCursor, fromBefore].flatMap((each) => each?.outputs ?? []).map((each) => [each.key, each]),
  );
  // The wallet repeats old unmined payments in each poll. Report a dropped one only if it just left a block;
  // otherwise the recheck finds it.
  const removedKeys = fromCursor?.removedKeys ?? new Set();
  const observations = await observeOutputs(rpc, [...outputs.values()], ({ key }) => removedKeys.has(key));
  return { polled: capObservations(observations, tip), height: tip.height };
}

/** Lists payments that the wallet may have found late. Returns null if that isn't necessary. */
async function listBeforeCursor(
  rpc: JsonRpc,
  fromCursor: WalletListing | null,
  options: ListOptions,
): Promise<WalletListing | null> {
  if (fromCursor !== null && !options.includeLookback) return null;
  const height = (options.cursor?.height ?? options.tipHeight) - options.lookbackBlocks;
  const hash = asString(await rpc.call('getblockhash', [Math.max(0, height)]), 'block hash');
  try {
    return await listSince(rpc, hash, options);
  } catch (error) {
    if (!(error instanceof ListTooLong) || fromCursor === null) throw error;
    // The newest entries include late discoveries, however old their block is.
    return { lastHash: null, outputs: await listNewestOutputs(rpc), removedKeys: new Set() };
  }
}

/** Lists the newest entries of the wallet, which include most unconfirmed payments. */
export async function listNewestOutputs(rpc: JsonRpc): Promise<readonly Output[]> {
  return parseListedOutputs(
    await rpc.call('listtransactions', ['*', MAX_UNCONFIRMED, 0, true], { maxBytes: UNCONFIRMED_MAX_BYTES }),
  );
}

/**
 * Returns null for an unknown or pruned block. For an orphaned block the list starts at the fork and has the
 * removed payments.
 */
async function listSince(
  rpc: JsonRpc,
  hash: string,
  { maxBytes }: ListOptions,
): Promise<WalletListing | null> {
  try {
    const since = asObject(
      await rpc.call('listsinceblock', [hash, 1, true, true], { maxBytes }),
      'wallet history',
    );
    // Both lists have the current state; a payment that moved to another block is in both.
    const removed = parseListedOutputs(optionalArray(since.removed, 'removed payments'));
    const outputs = [...removed, ...parseListedOutputs(since.transactions)];
    if (outputs.filter(isUnconfirmed).length > MAX_UNCONFIRMED) throw new ListTooLong();
    const lastHash = asString(since.lastblock, 'block hash');
    return { lastHash, outputs, removedKeys: new Set(removed.map(({ key }) => key)) };
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

/** Limits a poll after a long outage: the oldest payments come first, and the cursor continues there. */
function capObservations(observations: readonly Observation[], tip: Cursor): PollResult {
  const heights = observations
    .flatMap(({ height }) => (height === null ? [] : [height]))
    .sort((a, b) => a - b);
  const lastHeight = heights[MAX_PAYMENTS_PER_POLL - 1];
  if (lastHeight === undefined || lastHeight === heights.at(-1)) {
    return { cursor: formatCursor(tip), observations: [...observations], isComplete: true };
  }
  const reported = observations.filter(({ height }) => height === null || height <= lastHeight);
  const last = reported.find(({ height }) => height === lastHeight);
  return {
    cursor: formatCursor({ height: lastHeight, hash: last?.blockHash ?? tip.hash }),
    observations: reported,
    isComplete: false,
  };
}
