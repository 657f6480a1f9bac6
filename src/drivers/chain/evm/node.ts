/**
 * What a node of Ethereum is asked. Several calls go in one request where their answers are small; blocks are traced one in a request.
 */
import { fieldsOf, listOf } from '../answers.ts';
import type { BlockHead } from '../block-walk.ts';
import { type Call, JsonRpc } from '../json-rpc.ts';
import { type NodeAddress, NodeError } from '../node-http.ts';
import { addressOf, hexHashOf, hexUnitsOf, hexWholeOf } from './answers.ts';

/** Of headers and logs, of as many blocks as go in one request. */
const BATCH_MAX_BYTES = 16 * 1024 ** 2;
/** Of a block with very much in it, by a node that executes it once more. */
const TRACE_TIMEOUT_MS = 15_000;
/**
 * Of a block, and of a transaction: several times what a full block has. A trace repeats what calls were given, which costs next to
 * nothing, so anybody can make one of any length.
 */
const TRACE_MAX_BYTES = 16 * 1024 ** 2;
const TRACE = { timeoutMs: TRACE_TIMEOUT_MS, maxBytes: TRACE_MAX_BYTES };

export interface Head extends BlockHead {
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
export interface Payment {
  readonly txid: string;
  readonly blockHash: string;
  /** In lower case; null where it makes a contract. */
  readonly to: string | null;
  readonly amountUnits: bigint;
}

export class EvmNode {
  readonly #rpc: JsonRpc;

  constructor(address: NodeAddress) {
    this.#rpc = new JsonRpc(address);
  }

  async chainId(): Promise<number> {
    return hexWholeOf(await this.#rpc.call('eth_chainId', []), 'the network’s number');
  }

  /** Null where there is none. */
  async head(at: number | 'latest'): Promise<Head | null> {
    return headOf(await this.#rpc.call(...headCall(at)));
  }

  /** Of whatever branch; null where it is not known, or not any more. */
  async headOf(hash: string): Promise<Head | null> {
    try {
      return headOf(await this.#rpc.call('eth_getBlockByHash', [hash, false]));
    } catch (error) {
      if (error instanceof NodeError) return null;
      throw error;
    }
  }

  /** In their order. */
  async heads(heights: readonly number[]): Promise<(Head | null)[]> {
    const calls = heights.map((height) => callOf(...headCall(height)));
    return (await this.#batch(calls)).map(headOf);
  }

  /** Null where it tells none, as one without a consensus client, or of an old make. */
  async finalHeight(): Promise<number | null> {
    try {
      return headOf(await this.#rpc.call(...headCall('finalized')))?.height ?? null;
    } catch (error) {
      if (error instanceof NodeError) return null;
      throw error;
    }
  }

  /** Null for what is in no block of the chain. */
  async receipts(txids: readonly string[]): Promise<(Receipt | null)[]> {
    const answers = await this.#batch(txids.map((txid) => callOf('eth_getTransactionReceipt', [txid])));
    return answers.map(receiptOf);
  }

  /** Of each block in turn, what this contract said under this topic. */
  async logs(
    blockHashes: readonly string[],
    of: { readonly contract: string; readonly topic: string },
  ): Promise<(readonly unknown[])[]> {
    const answers = await this.#batch(
      blockHashes.map((blockHash) =>
        callOf('eth_getLogs', [{ blockHash, address: of.contract, topics: [of.topic] }]),
      ),
    );
    return answers.map((logs) => listOf(logs, 'logs'));
  }

  async traceBlock(height: number): Promise<unknown> {
    return await this.#rpc.call('trace_block', [hex(height)], TRACE);
  }

  async traceTransaction(txid: string): Promise<unknown> {
    return await this.#rpc.call('trace_transaction', [txid], TRACE);
  }

  /** What it changed. */
  async replayTransaction(txid: string): Promise<unknown> {
    return await this.#rpc.call('trace_replayTransaction', [txid, ['stateDiff']], TRACE);
  }

  async callFrames(blockHash: string): Promise<unknown> {
    const params = [blockHash, { tracer: 'callTracer' }];
    return await this.#rpc.call('debug_traceBlockByHash', params, TRACE);
  }

  async callFrame(txid: string): Promise<unknown> {
    return await this.#rpc.call('debug_traceTransaction', [txid, { tracer: 'callTracer' }], TRACE);
  }

  /** What it changed. */
  async changedStates(txid: string): Promise<unknown> {
    // Code of contracts and their storage are left out where the node knows how.
    const tracerConfig = { diffMode: true, disableCode: true, disableStorage: true };
    const params = [txid, { tracer: 'prestateTracer', tracerConfig }];
    return await this.#rpc.call('debug_traceTransaction', params, TRACE);
  }

  /** What each of these says itself that it pays; null for what is in no block of the chain. */
  async payments(txids: readonly string[]): Promise<(Payment | null)[]> {
    const answers = await this.#batch(txids.map((txid) => callOf('eth_getTransactionByHash', [txid])));
    return answers.map(paymentOf);
  }

  async hasCode(contract: string): Promise<boolean> {
    const code = await this.#rpc.call('eth_getCode', [contract, 'latest']);
    return typeof code === 'string' && /^0x[0-9a-f]{2,}$/i.test(code);
  }

  /** After this block. */
  async balance(address: string, blockHash: string): Promise<bigint> {
    return hexUnitsOf(await this.#rpc.call('eth_getBalance', [address, { blockHash }]), 'balance');
  }

  /** Of a contract without arguments, by the first four bytes of the name's Keccak. */
  async ask(contract: string, selector: string): Promise<bigint> {
    return hexUnitsOf(
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
      return hexWholeOf(await this.#rpc.call('net_peerCount', []), 'the number of peers');
    } catch (error) {
      if (error instanceof NodeError) return null;
      throw error;
    }
  }

  async #batch(calls: readonly Call[]): Promise<unknown[]> {
    return await this.#rpc.batch(calls, { maxBytes: BATCH_MAX_BYTES });
  }
}

function headCall(at: number | 'latest' | 'finalized'): [string, unknown[]] {
  return ['eth_getBlockByNumber', [typeof at === 'number' ? hex(at) : at, false]];
}

function callOf(method: string, params: readonly unknown[]): Call {
  return { method, params };
}

function hex(height: number): string {
  return `0x${height.toString(16)}`;
}

function headOf(answer: unknown): Head | null {
  if (answer === null) return null;
  const { number, hash, parentHash, timestamp, transactions } = fieldsOf(answer, 'block');
  return {
    height: hexWholeOf(number, 'the height of a block'),
    hash: hexHashOf(hash, 'block'),
    parentHash: hexHashOf(parentHash, 'parent'),
    time: new Date(hexWholeOf(timestamp, 'the time of a block') * 1000),
    txids: listOf(transactions, 'transactions').map((txid) => hexHashOf(txid, 'transaction')),
  };
}

function receiptOf(answer: unknown): Receipt | null {
  if (answer === null) return null;
  const { transactionHash, blockNumber, blockHash, status, logs } = fieldsOf(answer, 'receipt');
  // Some tell of a transaction that waits.
  if (blockHash === null || blockHash === undefined) return null;
  return {
    txid: hexHashOf(transactionHash, 'transaction'),
    height: hexWholeOf(blockNumber, 'the height of a block'),
    blockHash: hexHashOf(blockHash, 'block'),
    succeeded: hexWholeOf(status, 'the status of a transaction') === 1,
    logs: listOf(logs, 'logs'),
  };
}

function paymentOf(answer: unknown): Payment | null {
  if (answer === null) return null;
  const { hash, blockHash, to, value } = fieldsOf(answer, 'transaction');
  if (blockHash === null || blockHash === undefined) return null;
  return {
    txid: hexHashOf(hash, 'transaction'),
    blockHash: hexHashOf(blockHash, 'block'),
    to: to === null || to === undefined ? null : addressOf(to, 'payee'),
    amountUnits: hexUnitsOf(value, 'amount of a transaction'),
  };
}
