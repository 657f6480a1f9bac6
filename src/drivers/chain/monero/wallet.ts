/** A monero-wallet-rpc with a view-only wallet. It knows what came in, for addresses that it has made or looks ahead to. */

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
import { type NodeEndpoint, NodeError, NodeResponseTooLarge } from '../node-http.ts';

/** What one transaction pays to one of the wallet's addresses. */
export interface MoneroTransfer {
  readonly txid: string;
  readonly minor: number;
  readonly address: string;
  readonly amountUnits: bigint;
  /** Null: in the pool. */
  readonly height: number | null;
  /** A height, or a time in seconds, before which it cannot be spent; mostly 0. */
  readonly unlockTime: bigint;
  /** Another transaction that spends the same was seen. */
  readonly doubleSpent: boolean;
}

export interface HeightRange {
  readonly from: number;
  readonly to: number;
}

/** The wallet's own numbers of its errors. */
const WATCH_ONLY_CODE = -29;
const DENIED_CODE = -7;
const ADDRESS_NOT_FOUND_CODE = -15;

const ACCOUNT = 0;
/** Older ones make no more. */
const CREATE_BATCH_SIZE = 64;
/** Of all that came in at addresses, or in a span of blocks. */
const LIST_MAX_BYTES = 64 * 1024 ** 2;
/** What is made and not written down yet is lost when the wallet is killed; it looks 200 beyond what it had. */
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

  /** Whether it has the key that spends; null where it does not say, because its RPC is restricted. */
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

  /** The newest block that it has read. */
  async height(): Promise<number> {
    return asUint((await this.#call('get_height', {})).height, 'height') - 1;
  }

  /** Reads the chain as far as its node has it. */
  async refresh(): Promise<void> {
    await this.#rpc.call('refresh', {}, { timeoutMs: REFRESH_TIMEOUT_MS });
  }

  async hasAddress(minor: number): Promise<boolean> {
    return (await this.#findAddress(minor)) !== null;
  }

  /** The address with this number, made where it is not there yet, with all before it. */
  async ensureAddress(minor: number): Promise<string> {
    const existing = await this.#findAddress(minor);
    if (existing !== null) return existing;
    for (let count = 1; ; ) {
      const made = await this.#call('create_address', { account_index: ACCOUNT, count });
      const first = asUint(made.address_index, 'address_index');
      const last = first + count - 1;
      if (crossesStoreBoundary(first, last)) await this.#rpc.call('store', {});
      if (first === minor) return asString(made.address, 'address');
      if (last >= minor) return (await this.#findAddress(minor)) ?? '';
      count = Math.min(minor - last, CREATE_BATCH_SIZE);
    }
  }

  /** Everything in the pool, and what is in these blocks, to anybody or to these addresses; `blocks` null: the pool alone. */
  async transfers(blocks: HeightRange | null, minors?: readonly number[]): Promise<MoneroTransfer[]> {
    const to = minors === undefined ? {} : { subaddr_indices: [...new Set(minors)] };
    return blocks === null
      ? await this.#transfers({ ...to, in: false })
      : await this.#transfersInRange(blocks, to);
  }

  /** Who pays dust by the ten thousand makes a list too long for one answer: it is asked for by halves, at last by the block. */
  async #transfersInRange({ from, to }: HeightRange, which: object): Promise<MoneroTransfer[]> {
    // Its lower bound is not included.
    const range = { min_height: Math.max(0, from - 1), max_height: to };
    try {
      return await this.#transfers({ ...which, in: true, filter_by_height: true, ...range });
    } catch (error) {
      if (!(error instanceof NodeResponseTooLarge) || from >= to) throw error;
      const middle = Math.floor((from + to) / 2);
      const older = await this.#transfersInRange({ from, to: middle }, which);
      return [...older, ...(await this.#transfersInRange({ from: middle + 1, to }, which))];
    }
  }

  async #transfers(which: object): Promise<MoneroTransfer[]> {
    const params = { account_index: ACCOUNT, pool: true, ...which };
    const answer = await this.#call('get_transfers', params, { maxBytes: LIST_MAX_BYTES });
    // Left out where there is none: that is how Monero writes it.
    return [...optionalArray(answer.in, 'in'), ...optionalArray(answer.pool, 'pool')].map(parseTransfer);
  }

  async #findAddress(minor: number): Promise<string | null> {
    try {
      const answer = await this.#call('get_address', { account_index: ACCOUNT, address_index: [minor] });
      const [found] = asArray(answer.addresses, 'addresses');
      return asString(asObject(found, 'addresses').address, 'address');
    } catch (error) {
      if (error instanceof NodeError && error.code === ADDRESS_NOT_FOUND_CODE) return null;
      throw error;
    }
  }

  async #call(method: string, params: object, options: CallOptions = {}): Promise<JsonObject> {
    return asObject(await this.#rpc.call(method, params, options), method);
  }
}

function crossesStoreBoundary(first: number, last: number): boolean {
  return Math.floor((first - 1) / STORE_EVERY) < Math.floor(last / STORE_EVERY);
}

function parseTransfer(one: unknown): MoneroTransfer {
  const entry = asObject(one, 'a transfer');
  const place = asObject(entry.subaddr_index, 'subaddr_index');
  return {
    txid: asHash(entry.txid, 'txid'),
    minor: asUint(place.minor, 'minor'),
    address: asString(entry.address, 'address'),
    amountUnits: asUint64(entry.amount, 'amount'),
    height: entry.type === 'pool' ? null : asUint(entry.height, 'height'),
    unlockTime: asUint64(entry.unlock_time, 'unlock_time'),
    doubleSpent: entry.double_spend_seen === true,
  };
}
