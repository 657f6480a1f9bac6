/** The JSON-RPC of a node of Solana (Agave), as it is documented. Calls that are many go in batches. */
import { type Fields, fieldsOf, listOf, maybeFields, maybeWhole, textOf, wholeOf } from '../answers.ts';
import { JsonRpc } from '../json-rpc.ts';
import { type NodeAddress, NodeError } from '../node-http.ts';

export type Commitment = 'confirmed' | 'finalized';

export interface Finalized {
  readonly slot: number;
  readonly blockhash: string;
}

/** A transaction in which an address takes part. */
export interface Listed {
  readonly signature: string;
  readonly failed: boolean;
  /** Else only confirmed: hardly ever undone, but not for ever. */
  readonly final: boolean;
}

export interface ListOrder {
  readonly address: string;
  /** Older than this one. */
  readonly before: string | null;
  /** Newer than this one; all where the node does not know it. */
  readonly until: string | null;
  readonly limit: number;
}

/** Requests of a node are bounded to 50 KB. */
const LISTS_AT_ONCE = 50;
const TRANSACTIONS_AT_ONCE = 20;

export class SolanaNode {
  readonly #rpc: JsonRpc;

  constructor(node: NodeAddress) {
    this.#rpc = new JsonRpc(node);
  }

  async genesis(): Promise<string> {
    return textOf(await this.#rpc.call('getGenesisHash', []), 'the first block’s hash');
  }

  async finalized(): Promise<Finalized> {
    const what = 'the newest final block';
    const answer = await this.#rpc.call('getLatestBlockhash', [{ commitment: 'finalized' }]);
    const { context, value } = fieldsOf(answer, what);
    const slot = wholeOf(fieldsOf(context, what).slot, what);
    return { slot, blockhash: textOf(fieldsOf(value, what).blockhash, what) };
  }

  /** The oldest block that it still has. */
  async firstSlot(): Promise<number> {
    return wholeOf(await this.#rpc.call('getFirstAvailableBlock', []), 'the oldest block');
  }

  /** In unix seconds; null where the node does not know. */
  async timeOf(slot: number): Promise<number | null> {
    return maybeWhole(await this.#rpc.call('getBlockTime', [slot]), 'a block’s time');
  }

  /** Null while the node keeps up with the others; else what it says. */
  async ailment(): Promise<string | null> {
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
  async exists(address: string): Promise<boolean> {
    const config = { encoding: 'base64', commitment: 'confirmed' };
    const answer = fieldsOf(await this.#rpc.call('getAccountInfo', [address, config]), 'an account');
    return maybeFields(answer.value, 'an account') !== null;
  }

  /** Those of these addresses that have money, final; a hundred at once at most. */
  async funded(addresses: readonly string[]): Promise<readonly string[]> {
    if (addresses.length === 0) return [];
    const config = { encoding: 'base64', commitment: 'finalized' };
    const { value } = fieldsOf(await this.#rpc.call('getMultipleAccounts', [addresses, config]), 'accounts');
    const accounts = listOf(value, 'accounts');
    return addresses.filter((_, i) => (accounts[i] ?? null) !== null);
  }

  /** Of each address, newest first. */
  async lists(orders: readonly ListOrder[]): Promise<readonly (readonly Listed[])[]> {
    const calls = orders.map(({ address, before, until, limit }) => ({
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
    const answers = await this.#rpc.batch(calls, { atOnce: LISTS_AT_ONCE });
    // Read as an empty one, what is no list would close a gap that nobody read.
    return answers.map((list) => listOf(list, 'transactions of an address').map(listed));
  }

  /** Null for one that the node does not have; its error where it has one that it cannot tell. */
  async transactions(
    signatures: readonly string[],
    commitment: Commitment,
  ): Promise<readonly (Fields | NodeError | null)[]> {
    const config = { encoding: 'json', commitment, maxSupportedTransactionVersion: 0 };
    const calls = signatures.map((signature) => ({ method: 'getTransaction', params: [signature, config] }));
    const answers = await this.#rpc.settled(calls, { atOnce: TRANSACTIONS_AT_ONCE });
    return answers.map((each) =>
      each === null || each instanceof NodeError ? each : fieldsOf(each, 'a transaction'),
    );
  }
}

function listed(value: unknown): Listed {
  const { signature, err, confirmationStatus } = fieldsOf(value, 'a transaction of a list');
  return {
    signature: textOf(signature, 'a transaction’s signature'),
    failed: (err ?? null) !== null,
    final: confirmationStatus === 'finalized',
  };
}
