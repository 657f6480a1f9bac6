/**
 * Reads the chain block by block when the wallet's list is too long. Each block's payments are matched with
 * our addresses, so that a poll reads only a few blocks. Unconfirmed payments come from the newest page of
 * the wallet's list; those not on it are reported once they are in a block.
 */

import { parseCoinAmount } from '../../../kernel/exact-json.ts';
import type { OwnAddressLookup, PollResult } from '../../../ports/chain.ts';
import { type Cursor, formatCursor } from '../cursor.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { asArray, asDate, asInteger, asObject, asString, asUint, type JsonObject } from '../json-values.ts';
import { nullForNodeError } from '../node-http.ts';
import { DECIMALS } from './networks.ts';
import { observeOutputs } from './observe.ts';
import { type Output, outputKey, scriptAddress } from './outputs.ts';
import { getBlockHeader, NOT_FOUND } from './rpc.ts';
import { listNewestOutputs, MAX_PAYMENTS_PER_POLL, type ReadPosition } from './wallet-history.ts';

const MAX_BLOCKS_PER_POLL = 4;
/** Shorter than a poll's timeout; at least one block is always read. */
const TIME_BUDGET_MS = 6_000;
/** A full block has about 15 MB as JSON; a block of minimal outputs or only of signatures has twice that. */
const BLOCK_MAX_BYTES = 64 * 1024 ** 2;
/**
 * One value per byte of a block: empty witness parts make that possible, and it takes a few seconds to parse.
 */
const BLOCK_MAX_VALUES = 4_000_000;

interface WalkedBlock {
  readonly cursor: Cursor;
  readonly outputs: readonly Output[];
}

export async function walkBlocks(
  rpc: JsonRpc,
  own: OwnAddressLookup,
  from: ReadPosition,
): Promise<{ readonly polled: PollResult; readonly height: number }> {
  const { tipHeight } = from;
  const endMs = performance.now() + TIME_BUDGET_MS;
  const outputs: Output[] = [];
  let { at, blocks } = { at: await findLastReadBlock(rpc, from), blocks: 0 };
  while (at.height < tipHeight && blocks < MAX_BLOCKS_PER_POLL && outputs.length < MAX_PAYMENTS_PER_POLL) {
    if (blocks > 0 && performance.now() > endMs) break;
    const block = await readBlock(rpc, own, at);
    outputs.push(...block.outputs);
    at = block.cursor;
    blocks += 1;
  }
  // If both report a payment, the wallet's version is newer.
  const known = new Map([...outputs, ...(await listNewestOutputs(rpc))].map((each) => [each.key, each]));
  const observations = await observeOutputs(rpc, [...known.values()], () => false);
  const polled = { cursor: formatCursor(at), observations, isComplete: at.height >= tipHeight };
  return { polled, height: tipHeight };
}

/** Returns the newest block on the chain that was already read. */
async function findLastReadBlock(
  rpc: JsonRpc,
  { cursor, tipHeight, lookbackBlocks }: ReadPosition,
): Promise<Cursor> {
  const oldest = Math.max(0, (cursor?.height ?? tipHeight) - lookbackBlocks);
  for (let at = cursor; at !== null && at.height > oldest; ) {
    const header = await getBlockHeader(rpc, at.hash).catch(nullForNodeError(NOT_FOUND));
    if (header === null || header.parentHash === null) break;
    if (header.confirmations > 0) return at;
    at = { height: at.height - 1, hash: header.parentHash };
  }
  return { height: oldest, hash: await getBlockHash(rpc, oldest) };
}

async function getBlockHash(rpc: JsonRpc, height: number): Promise<string> {
  return asString(await rpc.call('getblockhash', [height]), 'block hash');
}

async function readBlock(rpc: JsonRpc, own: OwnAddressLookup, below: Cursor): Promise<WalkedBlock> {
  const hash = await getBlockHash(rpc, below.height + 1);
  const answer = await rpc.call('getblock', [hash, 2], {
    maxBytes: BLOCK_MAX_BYTES,
    maxValues: BLOCK_MAX_VALUES,
  });
  const block = asObject(answer, 'block');
  const confirmations = asInteger(block.confirmations, 'block confirmations');
  if (block.previousblockhash !== below.hash || confirmations < 1)
    throw new Error('the chain changed during the read');
  const height = asUint(block.height, 'block height');
  const place = { hash, height, time: asDate(block.time, 'block time') };
  const paid = blockPayments(block);
  const ours = await own([...new Set(paid.map(({ address }) => address))]);
  const outputs = paid
    .filter(({ address }) => ours.has(address))
    .map(({ txid, address, output }) => ({
      key: outputKey(txid, asUint(output.n, 'output index')),
      txid,
      address,
      amountUnits: parseCoinAmount(output.value, DECIMALS),
      confirmations,
      block: place,
    }));
  return { cursor: { height, hash }, outputs };
}

/** Lists the block's payments without the coinbase, which pays the miner. */
function blockPayments(
  block: JsonObject,
): { readonly txid: string; readonly address: string; readonly output: JsonObject }[] {
  return asArray(block.tx, 'transactions').flatMap((each) => {
    const transaction = asObject(each, 'transaction');
    if (isCoinbase(transaction)) return [];
    const txid = asString(transaction.txid, 'transaction id');
    return asArray(transaction.vout, 'outputs').flatMap((one) => {
      const output = asObject(one, 'output');
      // Outputs inside Litecoin's extension blocks have no script.
      const address =
        output.scriptPubKey === undefined ? null : scriptAddress(asObject(output.scriptPubKey, 'script'));
      return address === null ? [] : [{ txid, address, output }];
    });
  });
}

function isCoinbase(transaction: JsonObject): boolean {
  const [first] = asArray(transaction.vin, 'inputs');
  return first !== undefined && asObject(first, 'input').coinbase !== undefined;
}
