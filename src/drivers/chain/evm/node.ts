/** The JSON-RPC calls to an Ethereum node. Small ones are batched; each block trace is its own request. */

import type { BlockHead } from '../block-walk.ts';
import { JsonRpc, type RpcCall } from '../json-rpc.ts';
import { asArray, asHexAddress, asHexBigInt, asHexHash, asHexUint, asObject } from '../json-values.ts';
import { type NodeEndpoint, nullForNodeError } from '../node-http.ts';

/** Limit for headers and logs, for as many blocks as fit in one request. */
const BATCH_MAX_BYTES = 16 * 1024 ** 2;
/** Timeout for a trace: the node executes a full block again. */
const TRACE_TIMEOUT_MS = 15_000;
/**
 * Limit for the trace of a block or a transaction: several times that of a full block. A trace repeats call
 * data, which costs next to nothing, so anyone can make one of any length.
 */
const TRACE_MAX_BYTES = 16 * 1024 ** 2;
const TRACE_OPTIONS = { timeoutMs: TRACE_TIMEOUT_MS, maxBytes: TRACE_MAX_BYTES };

export interface EvmBlockHead extends BlockHead {
  readonly txids: readonly string[];
}

export interface Receipt {
  readonly txid: string;
  readonly height: number;
  readonly blockHash: string;
  readonly succeeded: boolean;
  /** Logs of all contracts, as the node returned them. */
  readonly logs: readonly unknown[];
}

/** The payment that a transaction itself declares, regardless of the contracts that it calls. */
export interface DeclaredPayment {
  readonly txid: string;
  readonly blockHash: string;
  /** Lowercase; null if it creates a contract. */
  readonly to: string | null;
  readonly amountUnits: bigint;
}

export class EvmNode {
  readonly #rpc: JsonRpc;

  constructor(address: NodeEndpoint) {
    this.#rpc = new JsonRpc(address);
  }

  async chainId(): Promise<number> {
    return asHexUint(await this.#rpc.call('eth_chainId', []), 'chain id');
  }

  /** Returns null if there is no such block. */
  async head(at: number | 'latest'): Promise<EvmBlockHead | null> {
    return parseHead(await this.#rpc.call(...headCall(at)));
  }

  async newest(): Promise<EvmBlockHead> {
    const head = await this.head('latest');
    if (head === null) throw new Error('the node has no blocks');
    return head;
  }

  /** Returns a block of any branch; null if the node doesn't know it, or no longer does. */
  async headByHash(hash: string): Promise<EvmBlockHead | null> {
    const answer = this.#rpc.call('eth_getBlockByHash', [hash, false]);
    return await answer.then(parseHead).catch(nullForNodeError());
  }

  /** Returns the heads in the order of `heights`. */
  async heads(heights: readonly number[]): Promise<(EvmBlockHead | null)[]> {
    const calls = heights.map((height) => toCall(...headCall(height)));
    return (await this.#batch(calls)).map(parseHead);
  }

  /** Returns null if the node doesn't know it, such as an old one or one without a consensus client. */
  async finalHeight(): Promise<number | null> {
    const answer = this.#rpc.call(...headCall('finalized'));
    return (await answer.then(parseHead).catch(nullForNodeError()))?.height ?? null;
  }

  /** Returns null for a transaction that is in no block of the chain. */
  async receipts(txids: readonly string[]): Promise<(Receipt | null)[]> {
    const answers = await this.#batch(txids.map((txid) => toCall('eth_getTransactionReceipt', [txid])));
    return answers.map(parseReceipt);
  }

  /** Returns this contract's logs with this topic, for each block in order. */
  async logs(
    blockHashes: readonly string[],
    filter: { readonly contract: string; readonly topic: string },
  ): Promise<(readonly unknown[])[]> {
    const answers = await this.#batch(
      blockHashes.map((blockHash) =>
        toCall('eth_getLogs', [{ blockHash, address: filter.contract, topics: [filter.topic] }]),
      ),
    );
    return answers.map((logs) => asArray(logs, 'logs'));
  }

  /** Makes a call that executes transactions again: `trace-apis.ts` has them all. */
  async trace(method: string, params: readonly unknown[]): Promise<unknown> {
    return await this.#rpc.call(method, params, TRACE_OPTIONS);
  }

  /** Returns the payment that each transaction itself declares; null if it is in no block of the chain. */
  async payments(txids: readonly string[]): Promise<(DeclaredPayment | null)[]> {
    const answers = await this.#batch(txids.map((txid) => toCall('eth_getTransactionByHash', [txid])));
    return answers.map(parsePayment);
  }

  async hasCode(contract: string): Promise<boolean> {
    const code = await this.#rpc.call('eth_getCode', [contract, 'latest']);
    return typeof code === 'string' && /^0x[0-9a-f]{2,}$/i.test(code);
  }

  /** Returns the balance after this block. */
  async balance(address: string, blockHash: string): Promise<bigint> {
    return asHexBigInt(await this.#rpc.call('eth_getBalance', [address, { blockHash }]), 'balance');
  }

  /**
   * Calls a contract method without arguments; `selector` is the first four bytes of its name's Keccak hash.
   */
  async callUint(contract: string, selector: string): Promise<bigint> {
    return asHexBigInt(
      await this.#rpc.call('eth_call', [{ to: contract, data: selector }, 'latest']),
      'contract call result',
    );
  }

  async isSyncing(): Promise<boolean> {
    return (await this.#rpc.call('eth_syncing', [])) !== false;
  }

  /** Returns null if the node doesn't say. */
  async peers(): Promise<number | null> {
    const answer = this.#rpc.call('net_peerCount', []);
    return await answer.then((count) => asHexUint(count, 'peer count')).catch(nullForNodeError());
  }

  async #batch(calls: readonly RpcCall[]): Promise<unknown[]> {
    return await this.#rpc.batch(calls, { maxBytes: BATCH_MAX_BYTES });
  }
}

function headCall(at: number | 'latest' | 'finalized'): [string, unknown[]] {
  return ['eth_getBlockByNumber', [typeof at === 'number' ? hexHeight(at) : at, false]];
}

function toCall(method: string, params: readonly unknown[]): RpcCall {
  return { method, params };
}

export function hexHeight(height: number): string {
  return `0x${height.toString(16)}`;
}

function parseHead(answer: unknown): EvmBlockHead | null {
  if (answer === null) return null;
  const { number, hash, parentHash, timestamp, transactions } = asObject(answer, 'block');
  return {
    height: asHexUint(number, 'block height'),
    hash: asHexHash(hash, 'block'),
    parentHash: asHexHash(parentHash, 'parent'),
    time: new Date(asHexUint(timestamp, 'block time') * 1000),
    txids: asArray(transactions, 'transactions').map((txid) => asHexHash(txid, 'transaction')),
  };
}

function parseReceipt(answer: unknown): Receipt | null {
  if (answer === null) return null;
  const { transactionHash, blockNumber, blockHash, status, logs } = asObject(answer, 'receipt');
  // Some nodes return a receipt for a pending transaction.
  if (blockHash === null || blockHash === undefined) return null;
  return {
    txid: asHexHash(transactionHash, 'transaction'),
    height: asHexUint(blockNumber, 'block height'),
    blockHash: asHexHash(blockHash, 'block'),
    succeeded: asHexUint(status, 'transaction status') === 1,
    logs: asArray(logs, 'logs'),
  };
}

function parsePayment(answer: unknown): DeclaredPayment | null {
  if (answer === null) return null;
  const { hash, blockHash, to, value } = asObject(answer, 'transaction');
  if (blockHash === null || blockHash === undefined) return null;
  return {
    txid: asHexHash(hash, 'transaction'),
    blockHash: asHexHash(blockHash, 'block'),
    to: to === null || to === undefined ? null : asHexAddress(to, 'payee'),
    amountUnits: asHexBigInt(value, 'transaction amount'),
  };
}
