/**
 * The HTTP API of a full node of Tron (java-tron), as it is documented. It leaves out whatever is zero, empty or false, and answers
 * `{}` for what it does not know. Addresses are asked for in hex.
 */

import type { BlockHead } from '../block-walk.ts';
import {
  asArray,
  asObject,
  type JsonObject,
  optionalArray,
  optionalObject,
  optionalString,
  optionalUint,
} from '../json-values.ts';
import {
  type NodeEndpoint,
  NodeError,
  NodeResponseTooLarge,
  NodeUnreachable,
  RESPONSE_MAX_BYTES,
  requestNode,
} from '../node-http.ts';

export interface TronBlock extends BlockHead {
  readonly transactions: readonly JsonObject[];
}

/** Any account; what only reads a contract needs one that asks. */
const ZERO_ADDRESS = `41${'0'.repeat(40)}`;

/** Of blocks with all their transactions, or with what these did; and of one transaction. */
const BLOCKS_MAX_BYTES = 64 * 1024 ** 2;
const TRANSACTION_MAX_BYTES = 16 * 1024 ** 2;

export class TronNode {
  readonly #node: NodeEndpoint;

  constructor(node: NodeEndpoint) {
    this.#node = node;
  }

  async latestBlock(): Promise<BlockHead> {
    return (
      parseHead(await this.#request('/wallet/getnowblock', {}, BLOCKS_MAX_BYTES)) ??
      throwMissing('newest block')
    );
  }

  /** Null where the node has none of this height. */
  async head(height: number): Promise<BlockHead | null> {
    return parseHead(await this.#request('/wallet/getblock', { id_or_num: String(height), detail: false }));
  }

  /** These heights, both included. At most a hundred at once, says the node; what is too long together is asked in parts. */
  async blocks(from: number, to: number): Promise<readonly TronBlock[]> {
    try {
      return await this.#blocksInOneRequest(from, to);
    } catch (error) {
      if (!(error instanceof NodeResponseTooLarge) || from === to) throw error;
      const half = Math.floor((from + to) / 2);
      return [...(await this.blocks(from, half)), ...(await this.blocks(half + 1, to))];
    }
  }

  async #blocksInOneRequest(from: number, to: number): Promise<readonly TronBlock[]> {
    const answer = await this.#request(
      '/wallet/getblockbylimitnext',
      { startNum: from, endNum: to + 1 },
      BLOCKS_MAX_BYTES,
    );
    return optionalArray(asObject(answer, 'blocks').block, 'blocks').map((block) => {
      const head = parseHead(block) ?? throwMissing('block');
      const transactions = optionalArray(asObject(block, 'a block').transactions, 'transactions');
      return { ...head, transactions: transactions.map((each) => asObject(each, 'a transaction')) };
    });
  }

  /** What the transactions of a block did: logs, calls inside, results. */
  async transactionOutcomes(height: number): Promise<readonly JsonObject[]> {
    const answer = await this.#request(
      '/wallet/gettransactioninfobyblocknum',
      { num: height },
      BLOCKS_MAX_BYTES,
    );
    const outcomes = isEmptyObject(answer) ? [] : asArray(answer, 'what transactions did');
    return outcomes.map((each) => asObject(each, 'what a transaction did'));
  }

  /** The same of one; null where it is in no block. */
  async transactionOutcome(txid: string): Promise<JsonObject | null> {
    const what = 'what a transaction did';
    const answer = asObject(
      await this.#request('/wallet/gettransactioninfobyid', { value: txid }, TRANSACTION_MAX_BYTES),
      what,
    );
    return optionalString(answer.id, what) === null ? null : answer;
  }

  async transaction(txid: string): Promise<JsonObject | null> {
    const answer = asObject(
      await this.#request('/wallet/gettransactionbyid', { value: txid }, TRANSACTION_MAX_BYTES),
      'a transaction',
    );
    return optionalString(answer.txID, 'a transaction’s id') === null ? null : answer;
  }

  /** The newest block that can change no more, as the node knows it; null where it does not tell. */
  async solidHeight(): Promise<number | null> {
    // Not every node offers this under the same address; then it is among what the node says of itself.
    const solid = await this.#request('/walletsolidity/getnowblock', {}, BLOCKS_MAX_BYTES).then(
      parseHead,
      () => null,
    );
    if (solid !== null) return solid.height;
    const about = await this.nodeInfo().catch(() => null);
    return about?.solidHeight ?? null;
  }

  async nodeInfo(): Promise<{ readonly peers: number; readonly solidHeight: number | null }> {
    const answer = asObject(await this.#request('/wallet/getnodeinfo'), 'the node');
    const solid = /^Num:(\d{1,12}),/.exec(
      optionalString(answer.solidityBlock, 'the newest final block') ?? '',
    );
    return {
      peers: optionalUint(answer.currentConnectCount, 'the number of peers') ?? 0,
      solidHeight: solid ? Number(solid[1]) : null,
    };
  }

  /** What a token says its smallest unit is; null where it is no token, or the node reads no contracts. `contract` is in hex. */
  async tokenDecimals(contract: string): Promise<bigint | null> {
    const answer = asObject(
      await this.#request('/wallet/triggerconstantcontract', {
        owner_address: ZERO_ADDRESS,
        contract_address: contract,
        function_selector: 'decimals()',
      }),
      'what a contract says',
    );
    const [said] = optionalArray(answer.constant_result, 'what a contract says');
    const word = optionalString(said, 'what a contract says') ?? '';
    return /^[0-9a-f]{64}$/i.test(word) ? BigInt(`0x${word}`) : null;
  }

  async #request(path: string, body: object = {}, maxBytes = RESPONSE_MAX_BYTES): Promise<unknown> {
    const answer = await requestNode(this.#node, path, { path, body, maxBytes });
    const says = Array.isArray(answer.body) ? undefined : optionalObject(answer.body, path)?.Error;
    if (says !== undefined) throw new NodeError(path, answer.status, String(says));
    if (answer.status !== 200) throw new NodeUnreachable(`${path}: the node answers ${answer.status}`);
    return answer.body;
  }
}

function isEmptyObject(answer: unknown): boolean {
  return !Array.isArray(answer) && Object.keys(asObject(answer, 'an answer')).length === 0;
}

/** Null for `{}`. The first block has neither number nor time. */
function parseHead(block: unknown): BlockHead | null {
  const { blockID, block_header } = asObject(block, 'a block');
  const hash = optionalString(blockID, 'a block’s hash');
  if (hash === null) return null;
  const { raw_data } = asObject(block_header, 'a block’s header');
  const { number, parentHash, timestamp } = asObject(raw_data, 'a block’s header');
  return {
    height: optionalUint(number, 'a block’s height') ?? 0,
    hash,
    parentHash: optionalString(parentHash, 'the block before') ?? '',
    time: new Date(optionalUint(timestamp, 'a block’s time') ?? 0),
  };
}

function throwMissing(what: string): never {
  throw new Error(`the node gave no ${what}`);
}
