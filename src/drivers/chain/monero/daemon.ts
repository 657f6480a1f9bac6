/** A monerod: blocks, and where a transaction is. It sees no amounts and no addresses. */
import { type Fields, fieldsOf, hashOf, maybeList, textOf, timeOf, wholeOf } from '../answers.ts';
import { JsonRpc } from '../json-rpc.ts';
import { askNode, type NodeAddress, NodeUnreachable } from '../node-http.ts';

export interface MoneroBlock {
  readonly height: number;
  readonly hash: string;
  readonly time: Date;
}

/** Where a transaction is: in a block, or in the pool. */
export interface MoneroPlace {
  /** Null: in the pool. */
  readonly height: number | null;
  /** Another transaction that spends the same was seen. */
  readonly doubleSpent: boolean;
}

export interface DaemonInfo {
  readonly network: string;
  readonly height: number;
  /** What its peers have; lower than its own where it does not know. */
  readonly targetHeight: number;
  readonly synchronized: boolean;
  /** Null where the node does not tell: its RPC is restricted. */
  readonly peers: number | null;
}

/** A restricted node answers no more than these at once. */
const TRANSACTIONS_AT_ONCE = 100;
const HEADERS_AT_ONCE = 500;
/** Of as many, with all that the node tells of them. */
const LIST_MAX_BYTES = 32 * 1024 ** 2;

export class MoneroDaemon {
  readonly #node: NodeAddress;
  readonly #rpc: JsonRpc;

  constructor(node: NodeAddress) {
    this.#node = node;
    this.#rpc = new JsonRpc(node, { path: '/json_rpc' });
  }

  async info(): Promise<DaemonInfo> {
    const info = answered('get_info', await this.#rpc.call('get_info', {}));
    const isRestricted = info.restricted === true;
    const peers = () =>
      wholeOf(info.outgoing_connections_count, 'outgoing_connections_count') +
      wholeOf(info.incoming_connections_count, 'incoming_connections_count');
    return {
      network: textOf(info.nettype, 'nettype'),
      height: wholeOf(info.height, 'height') - 1,
      targetHeight: wholeOf(info.target_height, 'target_height') - 1,
      synchronized: info.synchronized !== false,
      peers: isRestricted ? null : peers(),
    };
  }

  async tip(): Promise<MoneroBlock> {
    const answer = answered('get_last_block_header', await this.#rpc.call('get_last_block_header', {}));
    return block(fieldsOf(answer.block_header, 'block_header'));
  }

  /** By height; those above the tip are refused by the node. */
  async blocks(heights: readonly number[]): Promise<ReadonlyMap<number, MoneroBlock>> {
    const found = new Map<number, MoneroBlock>();
    for (const { first, last } of ranges(heights)) {
      const span = { start_height: first, end_height: last };
      const answer = await this.#rpc.call('get_block_headers_range', span, { maxBytes: LIST_MAX_BYTES });
      const { headers } = answered('get_block_headers_range', answer);
      for (const header of maybeList(headers, 'headers')) {
        const each = block(fieldsOf(header, 'headers'));
        found.set(each.height, each);
      }
    }
    return found;
  }

  /** By id; left out where it is nowhere. */
  async places(txids: readonly string[]): Promise<ReadonlyMap<string, MoneroPlace>> {
    const found = new Map<string, MoneroPlace>();
    const wanted = [...new Set(txids)];
    for (let i = 0; i < wanted.length; i += TRANSACTIONS_AT_ONCE) {
      const body = { txs_hashes: wanted.slice(i, i + TRANSACTIONS_AT_ONCE), prune: true };
      const answer = await askNode(this.#node, 'get_transactions', {
        path: '/get_transactions',
        body,
        maxBytes: LIST_MAX_BYTES,
      });
      // Left out where there is none: that is how Monero writes it.
      for (const one of maybeList(answered('get_transactions', answer.body).txs, 'txs')) {
        const each = fieldsOf(one, 'txs');
        const height = each.in_pool === true ? null : wholeOf(each.block_height, 'block_height');
        found.set(hashOf(each.tx_hash, 'tx_hash'), { height, doubleSpent: each.double_spend_seen === true });
      }
    }
    return found;
  }
}

function block(header: Fields): MoneroBlock {
  return {
    height: wholeOf(header.height, 'height'),
    hash: hashOf(header.hash, 'hash'),
    time: timeOf(header.timestamp, 'timestamp'),
  };
}

/** monerod tells most of its troubles beside the answer. */
function answered(what: string, answer: unknown): Fields {
  const fields = fieldsOf(answer, what);
  if (fields.untrusted === true) {
    throw new NodeUnreachable(`${what}: the node is not synchronised, and asks another one in the meantime`);
  }
  if (fields.status === 'OK') return fields;
  throw new NodeUnreachable(`${what}: the node is busy, or refuses it`);
}

/** Heights near each other are asked for together. */
function ranges(heights: readonly number[]): { readonly first: number; readonly last: number }[] {
  const found: { first: number; last: number }[] = [];
  for (const height of [...new Set(heights)].sort((a, b) => a - b)) {
    const range = found.at(-1);
    const joins = range && height - range.last <= 8 && height - range.first < HEADERS_AT_ONCE;
    if (joins) range.last = height;
    else found.push({ first: height, last: height });
  }
  return found;
}
