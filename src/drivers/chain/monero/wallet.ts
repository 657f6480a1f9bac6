/** A monero-wallet-rpc with a view-only wallet. It knows subaddresses that it created or scans ahead. */

import { type CallOptions, JsonRpc } from '../json-rpc.ts';
import {
  asArray,
  asHash,
  asObject,
  asString,
  asUint,
  asUint64,
  type JsonObject,
  optionalArray,
} from '../json-values.ts';
import { type NodeEndpoint, NodeError, NodeResponseTooLarge, nullForNodeError } from '../node-http.ts';

/** The payment of one transaction to one of the wallet's addresses. */
export interface MoneroTransfer {
  readonly txid: string;
  readonly minor: number;
  readonly address: string;
  readonly amountUnits: bigint;
  /** Null: in the pool. */
  readonly height: number | null;
  /** The height or time (seconds) from which it can be spent; usually 0. */
  readonly unlockTime: bigint;
  /** A conflicting transaction with the same inputs was seen. */
  readonly doubleSpent: boolean;
}

export interface HeightRange {
  readonly from: number;
  readonly to: number;
}

/** The wallet's error codes. */
const WATCH_ONLY_CODE = -29;
const DENIED_CODE = -7;
const ADDRESS_NOT_FOUND_CODE = -15;

const ACCOUNT = 0;
/** The limit of older wallets. */
const CREATE_BATCH_SIZE = 64;
/** Limit for all payments in a range of blocks. */
const LIST_MAX_BYTES = 64 * 1024 ** 2;
/** A killed wallet loses unsaved subaddresses, but scans 200 beyond the last saved one. */
const STORE_EVERY = 50;
const REFRESH_TIMEOUT_MS = 12_000;

export class MoneroWallet {
  readonly #rpc: JsonRpc;

  constructor(node: NodeEndpoint) {
    this.#rpc = new JsonRpc(node, { path: '/json_rpc' });
  }

  async primaryAddress(): Promise<string> {
    return (await this.#findAddress(0)) ?? '';
  }

  async viewKey(): Promise<string> {
    return asString((await this.#call('query_key', { key_type: 'view_key' })).key, 'key');
  }

  /** Whether it has the spend key; null if it doesn't say, because its RPC is restricted. */
  async canSpend(): Promise<boolean | null> {
    try {
      const key = asString((await this.#call('query_key', { key_type: 'spend_key' })).key, 'key');
      return !/^0*$/.test(key);
    } catch (error) {
      if (error instanceof NodeError && error.code === WATCH_ONLY_CODE) return false;
      if (error instanceof NodeError && error.code === DENIED_CODE) return null;
      throw error;
    }
  }

  /** Returns the height of the newest block that it has scanned. */
  async height(): Promise<number> {
    return asUint((await this.#call('get_height', {})).height, 'height') - 1;
  }

  /** Scans the chain up to its node's tip. */
  async refresh(): Promise<void> {
    await this.#rpc.call('refresh', {}, { timeoutMs: REFRESH_TIMEOUT_MS });
  }

  async hasAddress(minor: number): Promise<boolean> {
    return (await this.#findAddress(minor)) !== null;
  }

  /** Returns the subaddress with this index, after creating it and all before it if necessary. */
  async ensureAddress(minor: number): Promise<string> {
    const existing = await this.#findAddress(minor);
    if (existing !== null) return existing;
    for (let count = 1; ; ) {
      const created = await this.#call('create_address', { account_index: ACCOUNT, count });
      const first = asUint(created.address_index, 'address_index');
      const last = first + count - 1;
      if (crossesStoreBoundary(first, last)) await this.#rpc.call('store', {});
      if (first === minor) return asString(created.address, 'address');
      if (last >= minor) return (await this.#findAddress(minor)) ?? '';
      count = Math.min(minor - last, CREATE_BATCH_SIZE);
    }
  }

  /** Returns payments in the pool and, unless null, in these blocks, to all or these subaddresses. */
  async transfers(blocks: HeightRange | null, minors?: readonly number[]): Promise<MoneroTransfer[]> {
    const filter = minors === undefined ? {} : { subaddr_indices: [...new Set(minors)] };
    return blocks === null
      ? await this.#transfers({ ...filter, in: false })
      : await this.#transfersInRange(blocks, filter);
  }

  /** Tens of thousands of dust payments exceed one response: the range is halved, down to single blocks. */
  async #transfersInRange({ from, to }: HeightRange, filter: object): Promise<MoneroTransfer[]> {
    // The lower bound is exclusive.
    const range = { min_height: Math.max(0, from - 1), max_height: to };
    try {
      return await this.#transfers({ ...filter, in: true, filter_by_height: true, ...range });
    } catch (error) {
      if (!(error instanceof NodeResponseTooLarge) || from >= to) throw error;
      const middle = Math.floor((from + to) / 2);
      const older = await this.#transfersInRange({ from, to: middle }, filter);
      return [...older, ...(await this.#transfersInRange({ from: middle + 1, to }, filter))];
    }
  }

  async #transfers(filter: object): Promise<MoneroTransfer[]> {
    const params = { account_index: ACCOUNT, pool: true, ...filter };
    const answer = await this.#call('get_transfers', params, { maxBytes: LIST_MAX_BYTES });
    // Monero leaves out empty lists.
    return [...optionalArray(answer.in, 'in'), ...optionalArray(answer.pool, 'pool')].map(parseTransfer);
  }

  async #findAddress(minor: number): Promise<string | null> {
    const answer = await this.#call('get_address', {
      account_index: ACCOUNT,
      address_index: [minor],
    }).catch(nullForNodeError(ADDRESS_NOT_FOUND_CODE));
    if (answer === null) return null;
    const [found] = asArray(answer.addresses, 'addresses');
    return asString(asObject(found, 'addresses').address, 'address');
  }

  async #call(method: string, params: object, options: CallOptions = {}): Promise<JsonObject> {
    return asObject(await this.#rpc.call(method, params, options), method);
  }
}

function crossesStoreBoundary(first: number, last: number): boolean {
  return Math.floor((first - 1) / STORE_EVERY) < Math.floor(last / STORE_EVERY);
}

function parseTransfer(value: unknown): MoneroTransfer {
  const entry = asObject(value, 'transfer');
  const index = asObject(entry.subaddr_index, 'subaddr_index');
  return {
    txid: asHash(entry.txid, 'txid'),
    minor: asUint(index.minor, 'minor'),
    address: asString(entry.address, 'address'),
    amountUnits: asUint64(entry.amount, 'amount'),
    height: entry.type === 'pool' ? null : asUint(entry.height, 'height'),
    unlockTime: asUint64(entry.unlock_time, 'unlock_time'),
    doubleSpent: entry.double_spend_seen === true,
  };
}
