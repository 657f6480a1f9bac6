/** The documented JSON-RPC of a Solana node (Agave). Repeated calls are batched. */

import { JsonRpc } from '../json-rpc.ts';
import {
  asArray,
  asObject,
  asString,
  asUint,
  type JsonObject,
  optionalObject,
  optionalUint,
} from '../json-values.ts';
import { type NodeEndpoint, NodeError } from '../node-http.ts';

export type Commitment = 'confirmed' | 'finalized';

export interface FinalizedBlock {
  readonly slot: number;
  readonly blockhash: string;
}

/** A transaction that involves an address. */
export interface ListedTransaction {
  readonly signature: string;
  readonly failed: boolean;
  /** False: only confirmed, which is rarely reverted but not final. */
  readonly final: boolean;
}

export interface ListQuery {
  readonly address: string;
  /** Only transactions older than this one. */
  readonly before: string | null;
  /** Only transactions newer than this one; all if the node doesn't know it. */
  readonly until: string | null;
  readonly limit: number;
}

/** Nodes limit a request to 50 KB. */
const LIST_BATCH_SIZE = 50;
const TRANSACTION_BATCH_SIZE = 20;

export class SolanaNode {
  readonly #rpc: JsonRpc;

  constructor(node: NodeEndpoint) {
    this.#rpc = new JsonRpc(node);
  }

  async genesisHash(): Promise<string> {
    return asString(await this.#rpc.call('getGenesisHash', []), 'genesis hash');
  }

  async latestFinalized(): Promise<FinalizedBlock> {
    const label = 'latest blockhash';
    const answer = await this.#rpc.call('getLatestBlockhash', [{ commitment: 'finalized' }]);
    const { context, value } = asObject(answer, label);
    const slot = asUint(asObject(context, label).slot, label);
    return { slot, blockhash: asString(asObject(value, label).blockhash, label) };
  }

  /** Returns the oldest slot that the node still has. */
  async oldestSlot(): Promise<number> {
    return asUint(await this.#rpc.call('getFirstAvailableBlock', []), 'first available block');
  }

  /** Returns a Unix time in seconds; null if the node doesn't know. */
  async blockTime(slot: number): Promise<number | null> {
    return optionalUint(await this.#rpc.call('getBlockTime', [slot]), 'block time');
  }

  /** Returns null while the node keeps up with the network, otherwise the problem. */
  async healthProblem(): Promise<string | null> {
    try {
      return (await this.#rpc.call('getHealth', [])) === 'ok'
        ? null
        : 'the node does not report itself as healthy';
    } catch (error) {
      if (error instanceof NodeError) return error.message;
      throw error;
    }
  }

  /** Whether an account with a balance exists at this address. */
  async accountExists(address: string): Promise<boolean> {
    const config = { encoding: 'base64', commitment: 'confirmed' };
    const answer = asObject(await this.#rpc.call('getAccountInfo', [address, config]), 'account');
    return optionalObject(answer.value, 'account') !== null;
  }

  /** Returns those of up to 100 addresses that have a finalized balance. */
  async filterFunded(addresses: readonly string[]): Promise<readonly string[]> {
    if (addresses.length === 0) return [];
    const config = { encoding: 'base64', commitment: 'finalized' };
    const { value } = asObject(await this.#rpc.call('getMultipleAccounts', [addresses, config]), 'accounts');
    const accounts = asArray(value, 'accounts');
    return addresses.filter((_, i) => (accounts[i] ?? null) !== null);
  }

  /** Returns a page per address, newest first. */
  async listTransactions(queries: readonly ListQuery[]): Promise<readonly (readonly ListedTransaction[])[]> {
    const calls = queries.map(({ address, before, until, limit }) => ({
      method: 'getSignaturesForAddress',
      params: [
        address,
        {
          commitment: 'confirmed',
          limit,
          ...(before === null ? {} : { before }),
          ...(until === null ? {} : { until }),
        },
      ],
    }));
    const answers = await this.#rpc.batch(calls, { batchSize: LIST_BATCH_SIZE });
    // Treating an invalid list as empty would close a gap that was never read.
    return answers.map((list) => asArray(list, 'transaction list').map(parseListedTransaction));
  }

  /** Returns null for an unknown transaction, and the error for a transaction that the node can't return. */
  async transactions(
    signatures: readonly string[],
    commitment: Commitment,
  ): Promise<readonly (JsonObject | NodeError | null)[]> {
    const config = { encoding: 'json', commitment, maxSupportedTransactionVersion: 0 };
    const calls = signatures.map((signature) => ({ method: 'getTransaction', params: [signature, config] }));
    const answers = await this.#rpc.batchSettled(calls, { batchSize: TRANSACTION_BATCH_SIZE });
    return answers.map((each) =>
      each === null || each instanceof NodeError ? each : asObject(each, 'transaction'),
    );
  }
}

function parseListedTransaction(value: unknown): ListedTransaction {
  const { signature, err, confirmationStatus } = asObject(value, 'listed transaction');
  return {
    signature: asString(signature, 'transaction signature'),
    failed: (err ?? null) !== null,
    final: confirmationStatus === 'finalized',
  };
}
