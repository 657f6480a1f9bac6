/**
 * Block by block, where the wallet's list is too long: what each block pays is matched with our own addresses, so that a poll is never
 * longer than a few blocks. What waits is asked of the wallet a page at a time; what is not on it is told once it is in a block.
 */

import { unitsOf } from '../../../kernel/exact-json.ts';
import type { OwnAddresses, Polled } from '../../../ports/chain.ts';
import { type Fields, fieldsOf, integerOf, listOf, textOf, timeOf, wholeOf } from '../answers.ts';
import { type Cursor, cursorText } from '../cursor.ts';
import type { JsonRpc } from '../json-rpc.ts';
import { NodeError } from '../node-http.ts';
import { DECIMALS } from './networks.ts';
import { addressOf, keyOf, type Output } from './outputs.ts';
import { MOST, newestOutputs, type ReadFrom } from './read.ts';
import { type Header, headerOf, NOT_FOUND } from './rpc.ts';
import { observeAll } from './waiting.ts';

const MOST_BLOCKS = 4;
/** Less than a poll may take; a block is read in any case. */
const DURATION_MS = 6_000;
/** A full block is some fifteen megabytes so; one of the smallest outputs there are, or of signatures alone, twice that. */
const BLOCK_MAX_BYTES = 64 * 1024 ** 2;
/** As many as a block has bytes: signatures of empty parts make it so, and there is no other way past it. Reading it takes some seconds. */
const BLOCK_MAX_VALUES = 4_000_000;

interface ReadBlock {
  readonly cursor: Cursor;
  readonly outputs: readonly Output[];
}

export async function walkBlocks(
  rpc: JsonRpc,
  own: OwnAddresses,
  from: ReadFrom,
): Promise<{ readonly polled: Polled; readonly height: number }> {
  const { tipHeight } = from;
  const endMs = performance.now() + DURATION_MS;
  const outputs: Output[] = [];
  let { at, blocks } = { at: await lastRead(rpc, from), blocks: 0 };
  while (at.height < tipHeight && blocks < MOST_BLOCKS && outputs.length < MOST) {
    if (blocks > 0 && performance.now() > endMs) break;
    const block = await readBlock(rpc, own, at);
    outputs.push(...block.outputs);
    at = block.cursor;
    blocks += 1;
  }
  // What both tell, the newer one says.
  const known = new Map([...outputs, ...(await newestOutputs(rpc))].map((each) => [each.key, each]));
  const observations = await observeAll(rpc, [...known.values()], () => false);
  const polled = { cursor: cursorText(at), observations, whole: at.height >= tipHeight };
  return { polled, height: tipHeight };
}

/** The newest block of the chain that was read before. */
async function lastRead(rpc: JsonRpc, { cursor, tipHeight, lookBackBlocks }: ReadFrom): Promise<Cursor> {
  const oldest = Math.max(0, (cursor?.height ?? tipHeight) - lookBackBlocks);
  for (let at = cursor; at !== null && at.height > oldest; ) {
    const header = await knownHeader(rpc, at.hash);
    if (header === null || header.parentHash === null) break;
    if (header.confirmations > 0) return at;
    at = { height: at.height - 1, hash: header.parentHash };
  }
  return { height: oldest, hash: await hashAt(rpc, oldest) };
}

async function knownHeader(rpc: JsonRpc, hash: string): Promise<Header | null> {
  try {
    return await headerOf(rpc, hash);
  } catch (error) {
    if (error instanceof NodeError && error.code === NOT_FOUND) return null;
    throw error;
  }
}

async function hashAt(rpc: JsonRpc, height: number): Promise<string> {
  return textOf(await rpc.call('getblockhash', [height]), 'a block’s hash');
}

async function readBlock(rpc: JsonRpc, own: OwnAddresses, below: Cursor): Promise<ReadBlock> {
  const hash = await hashAt(rpc, below.height + 1);
  const answer = await rpc.call('getblock', [hash, 2], {
    maxBytes: BLOCK_MAX_BYTES,
    maxValues: BLOCK_MAX_VALUES,
  });
  const block = fieldsOf(answer, 'a block');
  const confirmations = integerOf(block.confirmations, 'a block’s confirmations');
  if (block.previousblockhash !== below.hash || confirmations < 1)
    throw new Error('the chain changed while it was read');
  const height = wholeOf(block.height, 'a block’s height');
  const place = { hash, height, time: timeOf(block.time, 'a block’s time') };
  const paid = paidIn(block);
  const ours = await own([...new Set(paid.map(({ address }) => address))]);
  const outputs = paid
    .filter(({ address }) => ours.has(address))
    .map(({ txid, address, output }) => ({
      key: keyOf(txid, wholeOf(output.n, 'the number of an output')),
      txid,
      address,
      amountUnits: unitsOf(output.value, DECIMALS),
      confirmations,
      block: place,
    }));
  return { cursor: { height, hash }, outputs };
}

/** Newly made coins are nobody's payment. */
function paidIn(
  block: Fields,
): { readonly txid: string; readonly address: string; readonly output: Fields }[] {
  return listOf(block.tx, 'transactions').flatMap((each) => {
    const transaction = fieldsOf(each, 'a transaction');
    if (isNewlyMade(transaction)) return [];
    const txid = textOf(transaction.txid, 'a transaction’s id');
    return listOf(transaction.vout, 'outputs').flatMap((one) => {
      const output = fieldsOf(one, 'an output');
      // Outputs inside Litecoin's extension blocks have none.
      const address =
        output.scriptPubKey === undefined ? null : addressOf(fieldsOf(output.scriptPubKey, 'a script'));
      return address === null ? [] : [{ txid, address, output }];
    });
  });
}

function isNewlyMade(transaction: Fields): boolean {
  const [first] = listOf(transaction.vin, 'inputs');
  return first !== undefined && fieldsOf(first, 'an input').coinbase !== undefined;
}
