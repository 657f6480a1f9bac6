/**
 * The documented HTTP API of a Tron full node (java-tron). It leaves out values that are zero, empty, or
 * false, and returns `{}` for anything unknown. Addresses in requests are hex.
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

/** Any account: a read-only contract call needs a caller. */
const ZERO_ADDRESS = `41${'0'.repeat(40)}`;

/** Limits for blocks with all transactions or their outcomes, and for one transaction. */
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
      throwMissing('latest block')
    );
  }

  /** Returns null if the node has no block at this height. */
  async head(height: number): Promise<BlockHead | null> {
    return parseHead(await this.#request('/wallet/getblock', { id_or_num: String(height), detail: false }));
  }

  /** Returns the blocks, both heights inclusive. Nodes allow 100 per request; an oversized range is split. */
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
      const transactions = optionalArray(asObject(block, 'block').transactions, 'transactions');
      return { ...head, transactions: transactions.map((each) => asObject(each, 'transaction')) };
    });
  }

  /** Returns the outcomes of a block's transactions: logs, internal transactions, results. */
  async transactionOutcomes(height: number): Promise<readonly JsonObject[]> {
    const answer = await this.#request(
      '/wallet/gettransactioninfobyblocknum',
      { num: height },
      BLOCKS_MAX_BYTES,
    );
    // `{}` for a block without transactions.
    if (!Array.isArray(answer) && Object.keys(asObject(answer, 'response')).length === 0) return [];
    return asArray(answer, 'transaction outcomes').map((each) => asObject(each, 'transaction outcome'));
  }

  /** Returns the outcome of one transaction; null if it is in no block. */
  async transactionOutcome(txid: string): Promise<JsonObject | null> {
    const label = 'transaction outcome';
    const answer = asObject(
      await this.#request('/wallet/gettransactioninfobyid', { value: txid }, TRANSACTION_MAX_BYTES),
      label,
    );
    return optionalString(answer.id, label) === null ? null : answer;
  }

  async transaction(txid: string): Promise<JsonObject | null> {
    const answer = asObject(
      await this.#request('/wallet/gettransactionbyid', { value: txid }, TRANSACTION_MAX_BYTES),
      'transaction',
    );
    return optionalString(answer.txID, 'transaction id') === null ? null : answer;
  }

  /** Returns the height of the newest final block according to the node; null if it doesn't say. */
  async solidHeight(): Promise<number | null> {
    // Not every node offers this path; the node info then has the height.
    const solid = await this.#request('/walletsolidity/getnowblock', {}, BLOCKS_MAX_BYTES).then(
      parseHead,
      () => null,
    );
    if (solid !== null) return solid.height;
    const info = await this.nodeInfo().catch(() => null);
    return info?.solidHeight ?? null;
  }

  async nodeInfo(): Promise<{ readonly peers: number; readonly solidHeight: number | null }> {
    const answer = asObject(await this.#request('/wallet/getnodeinfo'), 'node info');
    const solid = /^Num:(\d{1,12}),/.exec(optionalString(answer.solidityBlock, 'solidity block') ?? '');
    return {
      peers: optionalUint(answer.currentConnectCount, 'peer count') ?? 0,
      solidHeight: solid ? Number(solid[1]) : null,
    };
  }

  /** Returns a token's decimals; null if it isn't one, or without contract calls. `contract` is hex. */
  async tokenDecimals(contract: string): Promise<bigint | null> {
    const answer = asObject(
      await this.#request('/wallet/triggerconstantcontract', {
        owner_address: ZERO_ADDRESS,
        contract_address: contract,
        function_selector: 'decimals()',
      }),
      'contract call',
    );
    const [result] = optionalArray(answer.constant_result, 'contract call result');
    const word = optionalString(result, 'contract call result') ?? '';
    return /^[0-9a-f]{64}$/i.test(word) ? BigInt(`0x${word}`) : null;
  }

  async #request(path: string, body: object = {}, maxBytes = RESPONSE_MAX_BYTES): Promise<unknown> {
    const answer = await requestNode(this.#node, path, { path, body, maxBytes });
    const message = Array.isArray(answer.body) ? undefined : optionalObject(answer.body, path)?.Error;
    if (message !== undefined) throw new NodeError(path, answer.status, String(message));
    if (answer.status !== 200)
      throw new NodeUnreachable(`${path}: the node responded with HTTP ${answer.status}`);
    return answer.body;
  }
}

/** Returns null for `{}`. The genesis block has neither number nor time. */
function parseHead(block: unknown): BlockHead | null {
  const { blockID, block_header } = asObject(block, 'block');
  const hash = optionalString(blockID, 'block hash');
  if (hash === null) return null;
  const { raw_data } = asObject(block_header, 'block header');
  const { number, parentHash, timestamp } = asObject(raw_data, 'block header');
  return {
    height: optionalUint(number, 'block height') ?? 0,
    hash,
    parentHash: optionalString(parentHash, 'parent hash') ?? '',
    time: new Date(optionalUint(timestamp, 'block time') ?? 0),
  };
}

function throwMissing(label: string): never {
  throw new Error(`the node returned no ${label}`);
}
