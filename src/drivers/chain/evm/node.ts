/**
 * What a node of Ethereum is asked. Several calls go in one request where their answers are small; blocks are traced one in a request.
 */

import type { BlockHead } from '../block-walk.ts';
import { JsonRpc, type RpcCall } from '../json-rpc.ts';
import { asArray, asObject } from '../json-values.ts';
import { type NodeEndpoint, NodeError } from '../node-http.ts';
import { asHexAddress, asHexBigInt, asHexHash, asHexUint } from './hex-values.ts';

/** Of headers and logs, of as many blocks as go in one request. */
const BATCH_MAX_BYTES = 16 * 1024 ** 2;
/** Of a block with very much in it, by a node that executes it once more. */
const TRACE_TIMEOUT_MS = 15_000;
/**
 * Of a block, and of a transaction: several times what a full block has. A trace repeats what calls were given, which costs next to
 * nothing, so anybody can make one of any length.
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
  /** Of all contracts, as the node gave them. */
  readonly logs: readonly unknown[];
}

/** What a transaction says itself, whatever the contracts do that it calls. */
export interface DeclaredPayment {
  readonly txid: string;
  readonly blockHash: string;
  /** In lower case; null where it makes a contract. */
  readonly to: string | null;
  readonly amountUnits: bigint;
}

export class EvmNode {
  readonly #rpc: JsonRpc;

  constructor(address: NodeEndpoint) {
    this.#rpc = new JsonRpc(address);
  }

  async chainId(): Promise<number> {
    return asHexUint(await this.#rpc.call('eth_chainId', []), 'the network’s number');
  }

  /** Null where there is none. */
  async head(at: number | 'latest'): Promise<EvmBlockHead | null> {
    return parseHead(await this.#rpc.call(...headCall(at)));
  }

  /** Of whatever branch; null where it is not known, or not any more. */
  async headByHash(hash: string): Promise<EvmBlockHead | null> {
    try {
      return parseHead(await this.#rpc.call('eth_getBlockByHash', [hash, false]));
    } catch (error) {
      if (error instanceof NodeError) return null;
      throw error;
    }
  }

  /** In their order. */
  async heads(heights: readonly number[]): Promise<(EvmBlockHead | null)[]> {
    const calls = heights.map((height) => toCall(...headCall(height)));
    return (await this.#batch(calls)).map(parseHead);
  }

  /** Null where it tells none, as one without a consensus client, or of an old make. */
  async finalHeight(): Promise<number | null> {
    try {
      return parseHead(await this.#rpc.call(...headCall('finalized')))?.height ?? null;
    } catch (error) {
      if (error instanceof NodeError) return null;
      throw error;
    }
  }

  /** Null for what is in no block of the chain. */
  async receipts(txids: readonly string[]): Promise<(Receipt | null)[]> {
    const answers = await this.#batch(txids.map((txid) => toCall('eth_getTransactionReceipt', [txid])));
    return answers.map(parseReceipt);
  }

  /** Of each block in turn, what this contract said under this topic. */
  async logs(
    blockHashes: readonly string[],
    of: { readonly contract: string; readonly topic: string },
  ): Promise<(readonly unknown[])[]> {
    const answers = await this.#batch(
      blockHashes.map((blockHash) =>
        toCall('eth_getLogs', [{ blockHash, address: of.contract, topics: [of.topic] }]),
      ),
    );
    return answers.map((logs) => asArray(logs, 'logs'));
  }

  async traceBlock(height: number): Promise<unknown> {
    return await this.#rpc.call('trace_block', [hex(height)], TRACE_OPTIONS);
  }

  async traceTransaction(txid: string): Promise<unknown> {
    return await this.#rpc.call('trace_transaction', [txid], TRACE_OPTIONS);
  }

  /** What it changed. */
  async replayTransaction(txid: string): Promise<unknown> {
    return await this.#rpc.call('trace_replayTransaction', [txid, ['stateDiff']], TRACE_OPTIONS);
  }

  async traceBlockCalls(blockHash: string): Promise<unknown> {
    const params = [blockHash, { tracer: 'callTracer' }];
    return await this.#rpc.call('debug_traceBlockByHash', params, TRACE_OPTIONS);
  }

  async traceTransactionCalls(txid: string): Promise<unknown> {
    return await this.#rpc.call('debug_traceTransaction', [txid, { tracer: 'callTracer' }], TRACE_OPTIONS);
  }

  /** What it changed. */
  async prestateDiff(txid: string): Promise<unknown> {
    // Code of contracts and their storage are left out where the node knows how.
    const tracerConfig = { diffMode: true, disableCode: true, disableStorage: true };
    const params = [txid, { tracer: 'prestateTracer', tracerConfig }];
    return await this.#rpc.call('debug_traceTransaction', params, TRACE_OPTIONS);
  }

  /** What each of these says itself that it pays; null for what is in no block of the chain. */
  async payments(txids: readonly string[]): Promise<(DeclaredPayment | null)[]> {
    const answers = await this.#batch(txids.map((txid) => toCall('eth_getTransactionByHash', [txid])));
    return answers.map(parsePayment);
  }

  async hasCode(contract: string): Promise<boolean> {
    const code = await this.#rpc.call('eth_getCode', [contract, 'latest']);
    return typeof code === 'string' && /^0x[0-9a-f]{2,}$/i.test(code);
  }

  /** After this block. */
  async balance(address: string, blockHash: string): Promise<bigint> {
    return asHexBigInt(await this.#rpc.call('eth_getBalance', [address, { blockHash }]), 'balance');
  }

  /** Of a contract without arguments, by the first four bytes of the name's Keccak. */
  async callUint(contract: string, selector: string): Promise<bigint> {
    return asHexBigInt(
      await this.#rpc.call('eth_call', [{ to: contract, data: selector }, 'latest']),
      'answer',
    );
  }

  async isSyncing(): Promise<boolean> {
    return (await this.#rpc.call('eth_syncing', [])) !== false;
  }

  /** Null where it does not tell. */
  async peers(): Promise<number | null> {
    try {
      return asHexUint(await this.#rpc.call('net_peerCount', []), 'the number of peers');
    } catch (error) {
      if (error instanceof NodeError) return null;
      throw error;
    }
  }

  async #batch(calls: readonly RpcCall[]): Promise<unknown[]> {
    return await this.#rpc.batch(calls, { maxBytes: BATCH_MAX_BYTES });
  }
}

function headCall(at: number | 'latest' | 'finalized'): [string, unknown[]] {
  return ['eth_getBlockByNumber', [typeof at === 'number' ? hex(at) : at, false]];
}

function toCall(method: string, params: readonly unknown[]): RpcCall {
  return { method, params };
}

function hex(height: number): string {
  return `0x${height.toString(16)}`;
}

function parseHead(answer: unknown): EvmBlockHead | null {
  if (answer === null) return null;
  const { number, hash, parentHash, timestamp, transactions } = asObject(answer, 'block');
  return {
    height: asHexUint(number, 'the height of a block'),
    hash: asHexHash(hash, 'block'),
    parentHash: asHexHash(parentHash, 'parent'),
    time: new Date(asHexUint(timestamp, 'the time of a block') * 1000),
    txids: asArray(transactions, 'transactions').map((txid) => asHexHash(txid, 'transaction')),
  };
}

function parseReceipt(answer: unknown): Receipt | null {
  if (answer === null) return null;
  const { transactionHash, blockNumber, blockHash, status, logs } = asObject(answer, 'receipt');
  // Some tell of a transaction that waits.
  if (blockHash === null || blockHash === undefined) return null;
  return {
    txid: asHexHash(transactionHash, 'transaction'),
    height: asHexUint(blockNumber, 'the height of a block'),
    blockHash: asHexHash(blockHash, 'block'),
    succeeded: asHexUint(status, 'the status of a transaction') === 1,
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
    amountUnits: asHexBigInt(value, 'amount of a transaction'),
  };
}
