/** The JSON-RPC of a node of Solana (Agave), as it is documented. Calls that are many go in batches. */

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

/** A transaction in which an address takes part. */
export interface ListedTransaction {
  readonly signature: string;
  readonly failed: boolean;
  /** Else only confirmed: hardly ever undone, but not for ever. */
  readonly final: boolean;
}

export interface ListQuery {
  readonly address: string;
  /** Older than this one. */
  readonly before: string | null;
  /** Newer than this one; all where the node does not know it. */
  readonly until: string | null;
  readonly limit: number;
}

/** Requests of a node are bounded to 50 KB. */
const LIST_BATCH_SIZE = 50;
const TRANSACTION_BATCH_SIZE = 20;

export class SolanaNode {
  readonly #rpc: JsonRpc;

  constructor(node: NodeEndpoint) {
    this.#rpc = new JsonRpc(node);
  }

  async genesisHash(): Promise<string> {
    return asString(await this.#rpc.call('getGenesisHash', []), 'the first block’s hash');
  }

  async latestFinalized(): Promise<FinalizedBlock> {
    const what = 'the newest final block';
    const answer = await this.#rpc.call('getLatestBlockhash', [{ commitment: 'finalized' }]);
    const { context, value } = asObject(answer, what);
    const slot = asUint(asObject(context, what).slot, what);
    return { slot, blockhash: asString(asObject(value, what).blockhash, what) };
  }

  /** The oldest block that it still has. */
  async oldestSlot(): Promise<number> {
    return asUint(await this.#rpc.call('getFirstAvailableBlock', []), 'the oldest block');
  }

  /** In unix seconds; null where the node does not know. */
  async blockTime(slot: number): Promise<number | null> {
    return optionalUint(await this.#rpc.call('getBlockTime', [slot]), 'a block’s time');
  }

  /** Null while the node keeps up with the others; else what it says. */
  async healthProblem(): Promise<string | null> {
    try {
      return (await this.#rpc.call('getHealth', [])) === 'ok'
        ? null
        : 'the node does not say that it is well';
    } catch (error) {
      if (error instanceof NodeError) return error.message;
      throw error;
    }
  }

  /** Whether there is an account under this address, with any money at all. */
  async accountExists(address: string): Promise<boolean> {
    const config = { encoding: 'base64', commitment: 'confirmed' };
    const answer = asObject(await this.#rpc.call('getAccountInfo', [address, config]), 'an account');
    return optionalObject(answer.value, 'an account') !== null;
  }

  /** Those of these addresses that have money, final; a hundred at once at most. */
  async filterFunded(addresses: readonly string[]): Promise<readonly string[]> {
    if (addresses.length === 0) return [];
    const config = { encoding: 'base64', commitment: 'finalized' };
    const { value } = asObject(await this.#rpc.call('getMultipleAccounts', [addresses, config]), 'accounts');
    const accounts = asArray(value, 'accounts');
    return addresses.filter((_, i) => (accounts[i] ?? null) !== null);
  }

  /** Of each address, newest first. */
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
    // Read as an empty one, what is no list would close a gap that nobody read.
    return answers.map((list) => asArray(list, 'transactions of an address').map(parseListedTransaction));
  }

  /** Null for one that the node does not have; its error where it has one that it cannot tell. */
  async transactions(
    signatures: readonly string[],
    commitment: Commitment,
  ): Promise<readonly (JsonObject | NodeError | null)[]> {
    const config = { encoding: 'json', commitment, maxSupportedTransactionVersion: 0 };
    const calls = signatures.map((signature) => ({ method: 'getTransaction', params: [signature, config] }));
    const answers = await this.#rpc.batchSettled(calls, { batchSize: TRANSACTION_BATCH_SIZE });
    return answers.map((each) =>
      each === null || each instanceof NodeError ? each : asObject(each, 'a transaction'),
    );
  }
}

function parseListedTransaction(value: unknown): ListedTransaction {
  const { signature, err, confirmationStatus } = asObject(value, 'a transaction of a list');
  return {
    signature: asString(signature, 'a transaction’s signature'),
    failed: (err ?? null) !== null,
    final: confirmationStatus === 'finalized',
  };
}
