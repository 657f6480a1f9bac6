/** A monerod: blocks and the location of transactions. It sees no amounts and no addresses. */

import { JsonRpc } from '../json-rpc.ts';
import {
  asDate,
  asHash,
  asObject,
  asString,
  asUint,
  type JsonObject,
  optionalArray,
} from '../json-values.ts';
import { type NodeEndpoint, NodeUnreachable, requestNode } from '../node-http.ts';

export interface MoneroBlock {
  readonly height: number;
  readonly hash: string;
  readonly time: Date;
}

/** The location of a transaction: in a block or in the pool. */
export interface TransactionLocation {
  /** Null: in the pool. */
  readonly height: number | null;
  /** A conflicting transaction with the same inputs was seen. */
  readonly doubleSpent: boolean;
}

export interface DaemonInfo {
  readonly network: string;
  readonly height: number;
  /** The height of its peers; lower than its own if unknown. */
  readonly targetHeight: number;
  readonly synchronized: boolean;
  /** Null if the node doesn't say, because its RPC is restricted. */
  readonly peers: number | null;
}

/** A restricted node returns at most this many per request. */
const TRANSACTION_BATCH_SIZE = 100;
const HEADER_BATCH_SIZE = 500;
/** Limit for a full batch with all its fields. */
const LIST_MAX_BYTES = 32 * 1024 ** 2;

export class MoneroDaemon {
  readonly #node: NodeEndpoint;
  readonly #rpc: JsonRpc;

  constructor(node: NodeEndpoint) {
    this.#node = node;
    this.#rpc = new JsonRpc(node, { path: '/json_rpc' });
  }

  async info(): Promise<DaemonInfo> {
    const info = requireOk('get_info', await this.#rpc.call('get_info', {}));
    const isRestricted = info.restricted === true;
    const peers = () =>
      asUint(info.outgoing_connections_count, 'outgoing_connections_count') +
      asUint(info.incoming_connections_count, 'incoming_connections_count');
    return {
      network: asString(info.nettype, 'nettype'),
      height: asUint(info.height, 'height') - 1,
      targetHeight: asUint(info.target_height, 'target_height') - 1,
      synchronized: info.synchronized !== false,
      peers: isRestricted ? null : peers(),
    };
  }

  async tip(): Promise<MoneroBlock> {
    const answer = requireOk('get_last_block_header', await this.#rpc.call('get_last_block_header', {}));
    return parseBlock(asObject(answer.block_header, 'block_header'));
  }

  /** Returns blocks by height; the node refuses heights above its tip. */
  async blocks(heights: readonly number[]): Promise<ReadonlyMap<number, MoneroBlock>> {
    const found = new Map<number, MoneroBlock>();
    for (const { first, last } of mergeHeights(heights)) {
      const span = { start_height: first, end_height: last };
      const answer = await this.#rpc.call('get_block_headers_range', span, { maxBytes: LIST_MAX_BYTES });
      const { headers } = requireOk('get_block_headers_range', answer);
      for (const header of optionalArray(headers, 'headers')) {
        const each = parseBlock(asObject(header, 'headers'));
        found.set(each.height, each);
      }
    }
    return found;
  }

  /** Returns locations by txid; leaves out unknown transactions. */
  async locateTransactions(txids: readonly string[]): Promise<ReadonlyMap<string, TransactionLocation>> {
    const found = new Map<string, TransactionLocation>();
    const wanted = [...new Set(txids)];
    for (let i = 0; i < wanted.length; i += TRANSACTION_BATCH_SIZE) {
      const body = { txs_hashes: wanted.slice(i, i + TRANSACTION_BATCH_SIZE), prune: true };
      const answer = await requestNode(this.#node, 'get_transactions', {
        path: '/get_transactions',
        body,
        maxBytes: LIST_MAX_BYTES,
      });
      // Monero leaves out empty lists.
      for (const entry of optionalArray(requireOk('get_transactions', answer.body).txs, 'txs')) {
        const each = asObject(entry, 'txs');
        const height = each.in_pool === true ? null : asUint(each.block_height, 'block_height');
        found.set(asHash(each.tx_hash, 'tx_hash'), { height, doubleSpent: each.double_spend_seen === true });
      }
    }
    return found;
  }
}

function parseBlock(header: JsonObject): MoneroBlock {
  return {
    height: asUint(header.height, 'height'),
    hash: asHash(header.hash, 'hash'),
    time: asDate(header.timestamp, 'timestamp'),
  };
}

/** monerod reports most problems in the body of a successful response. */
function requireOk(label: string, answer: unknown): JsonObject {
  const fields = asObject(answer, label);
  if (fields.untrusted === true) {
    throw new NodeUnreachable(`${label}: the node is not synchronized and is using another node meanwhile`);
  }
  if (fields.status === 'OK') return fields;
  throw new NodeUnreachable(`${label}: the node is busy or refused the request`);
}

/** Merges nearby heights into ranges, to request them together. */
function mergeHeights(heights: readonly number[]): { readonly first: number; readonly last: number }[] {
  const found: { first: number; last: number }[] = [];
  for (const height of [...new Set(heights)].sort((a, b) => a - b)) {
    const range = found.at(-1);
    const joins = range && height - range.last <= 8 && height - range.first < HEADER_BATCH_SIZE;
    if (joins) range.last = height;
    else found.push({ first: height, last: height });
  }
  return found;
}
