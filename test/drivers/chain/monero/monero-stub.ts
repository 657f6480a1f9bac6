/** A stub wallet and a stub node on one port, for situations that real ones don't produce on demand. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { ed25519 } from '@noble/curves/ed25519.js';
import { hex } from '@scure/base';
import { moneroAddress } from '../../../../src/drivers/chain/addresses.ts';
import { MoneroAccount } from '../../../../src/drivers/chain/monero/account.ts';
import { MoneroChain, type MoneroOptions } from '../../../../src/drivers/chain/monero/driver.ts';
import type { NodeEndpoint } from '../../../../src/drivers/chain/node-http.ts';

export interface StubTransfer {
  readonly txid: string;
  readonly minor: number;
  readonly amount: string;
  /** Block height according to the wallet; null: in the pool. */
  height: number | null;
  readonly unlockTime: number;
  doubleSpent: boolean;
}

type Params = Readonly<Record<string, unknown>>;

const VIEW_KEY = scalarText(7n);
const SPEND_PUBLIC = ed25519.Point.BASE.multiply(11n).toBytes();
const VIEW_PUBLIC = ed25519.Point.BASE.multiply(7n).toBytes();

function scalarText(scalar: bigint): string {
  return hex.encode(hex.decode(scalar.toString(16).padStart(64, '0')).reverse());
}

/** An error response with the wallet's error code. */
export class StubRpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class MoneroStub {
  readonly address = moneroAddress(18, SPEND_PUBLIC, VIEW_PUBLIC);
  readonly account = MoneroAccount.parse(this.address);
  readonly viewKey = VIEW_KEY;
  /** By height. */
  blocks: { hash: string; time: number }[] = [];
  walletHeight = 0;
  /** Whether `refresh` syncs the wallet with the node. */
  refreshes = true;
  transfers: StubTransfer[] = [];
  /** The node's location of a transaction, if it differs from the wallet's; null: in the pool. */
  locations = new Map<string, number | null | 'nowhere'>();
  addresses = 1;
  /** Beyond this many payments, the wallet's response exceeds any limit. */
  maxListed = Number.POSITIVE_INFINITY;
  /** All calls with their parameters. */
  readonly calls: { method: string; params: Params }[] = [];
  /** Overridden responses, by method. */
  readonly answers: Record<string, (params: Params) => unknown> = {};
  /** Runs before each response. */
  beforeAnswer: (method: string) => void = () => undefined;
  /** Makes the newest of the first blocks about as old as now. */
  readonly #firstBlockS = Math.floor(Date.now() / 1000) - 100 * 120;
  #hashCount = 0;
  readonly #server: Server;
  #port = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.on('data', (part) => {
        text += part;
      });
      request.on('end', () => {
        response.end(
          JSON.stringify(this.#answer(request.url ?? '', JSON.parse(text))).replace(/"big:(\d+)"/g, '$1'),
        );
      });
    });
  }

  static async start(): Promise<MoneroStub> {
    const stub = new MoneroStub();
    stub.#server.listen(0, '127.0.0.1');
    await once(stub.#server, 'listening');
    const address = stub.#server.address();
    stub.#port = typeof address === 'object' && address !== null ? address.port : 0;
    stub.mine(101);
    return stub;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  get node(): NodeEndpoint {
    return { url: `http://127.0.0.1:${this.#port}`, authorization: null };
  }

  driver(options: Partial<MoneroOptions> = {}): MoneroChain {
    return new MoneroChain({
      wallet: this.node,
      daemon: this.node,
      address: this.address,
      allowTest: false,
      ...options,
    });
  }

  get height(): number {
    return this.blocks.length - 1;
  }

  get cursor(): string {
    return `${this.height}:${this.blocks.at(-1)?.hash}`;
  }

  mine(count: number): void {
    for (let i = 0; i < count; i++) {
      this.blocks.push({ hash: this.#hash('block'), time: this.#firstBlockS + this.blocks.length * 120 });
    }
    this.walletHeight = this.height;
  }

  /** Adds a payment in the block at this height or in the pool. */
  pay(minor: number, amount: bigint, height: number | null, unlockTime = 0): StubTransfer {
    const txid = this.#hash('transaction');
    const transfer = { txid, minor, amount: `big:${amount}`, height, unlockTime, doubleSpent: false };
    this.transfers.push(transfer);
    return transfer;
  }

  callCount(method: string): number {
    return this.calls.filter((each) => each.method === method).length;
  }

  #answer(path: string, body: Params): unknown {
    if (path === '/get_transactions') return this.#transactions(body.txs_hashes as string[]);
    const { method, params } = body as { method: string; params: Params };
    this.calls.push({ method, params });
    this.beforeAnswer(method);
    try {
      const override = this.answers[method];
      return { result: override ? override(params) : this.#result(method, params) };
    } catch (error) {
      if (!(error instanceof StubRpcError)) throw error;
      return { error: { code: error.code, message: error.message } };
    }
  }

  #result(method: string, params: Params): unknown {
    const results: Record<string, () => unknown> = {
      get_info: () => ({
        status: 'OK',
        nettype: 'mainnet',
        height: this.blocks.length,
        target_height: 0,
        synchronized: true,
        outgoing_connections_count: 12,
        incoming_connections_count: 0,
      }),
      get_last_block_header: () => ({ status: 'OK', block_header: this.#header(this.height) }),
      get_block_headers_range: () => this.#headers(params as { start_height: number; end_height: number }),
      get_height: () => ({ height: this.walletHeight + 1 }),
      refresh: () => {
        if (this.refreshes) this.walletHeight = this.height;
        return {};
      },
      get_address: () => this.#addressesAt(params.address_index as number[]),
      create_address: () => {
        if (Number(params.count) > 64) throw new StubRpcError(-1, 'Count must be between 1 and 64.');
        const minor = this.addresses;
        this.addresses += params.count as number;
        return { address_index: minor, address: this.#addressOf(minor) };
      },
      store: () => ({}),
      query_key: () => {
        if (params.key_type === 'view_key') return { key: this.viewKey };
        throw new StubRpcError(-29, 'The wallet is watch-only. Cannot retrieve spend key.');
      },
      get_transfers: () => this.#transfers(params),
    };
    const result = results[method];
    if (!result) throw new StubRpcError(-32601, 'Method not found');
    return result();
  }

  #header(height: number): unknown {
    const block = this.blocks[height];
    return { height, hash: block?.hash, timestamp: block?.time };
  }

  #headers({ start_height: first, end_height: last }: { start_height: number; end_height: number }): unknown {
    if (last > this.height) throw new StubRpcError(-2, 'Invalid start/end heights.');
    const heights = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    return { status: 'OK', headers: heights.map((height) => this.#header(height)) };
  }

  #addressesAt(indices: readonly number[]): unknown {
    const minor = indices[0] ?? 0;
    if (minor >= this.addresses) throw new StubRpcError(-15, 'address index is out of bound');
    return { addresses: [{ address: this.#addressOf(minor), address_index: minor }] };
  }

  #addressOf(minor: number): string {
    return minor === 0 ? this.address : this.account.subaddress(this.viewKey, minor);
  }

  #transfers(params: Params): unknown {
    const { min_height: over = -1, max_height: upTo = this.walletHeight, subaddr_indices: minors } = params;
    const wanted = this.transfers.filter(({ minor }) => !minors || (minors as number[]).includes(minor));
    const included = wanted.filter(
      ({ height }) => height !== null && height > (over as number) && height <= (upTo as number),
    );
    if (params.in === true && included.length > this.maxListed) return { in: 'x'.repeat(65 * 1024 ** 2) };
    const pool = wanted.filter(({ height }) => height === null);
    return {
      ...(params.in === true ? { in: included.map((each) => this.#entry(each, 'in')) } : {}),
      ...(pool.length > 0 ? { pool: pool.map((each) => this.#entry(each, 'pool')) } : {}),
    };
  }

  #entry(transfer: StubTransfer, type: string): unknown {
    const { txid, minor, amount, height, unlockTime, doubleSpent } = transfer;
    return {
      type,
      txid,
      amount,
      height: height ?? 0,
      address: this.#addressOf(minor),
      subaddr_index: { major: 0, minor },
      unlock_time: unlockTime,
      double_spend_seen: doubleSpent,
    };
  }

  #transactions(txids: readonly string[]): unknown {
    const txs = txids.flatMap((txid) => {
      const transfer = this.transfers.find((each) => each.txid === txid);
      const place = this.locations.has(txid)
        ? this.locations.get(txid)
        : (transfer?.height ?? (transfer ? null : 'nowhere'));
      if (place === 'nowhere' || place === undefined) return [];
      const seen = { tx_hash: txid, double_spend_seen: transfer?.doubleSpent ?? false };
      return place === null ? { ...seen, in_pool: true } : { ...seen, in_pool: false, block_height: place };
    });
    return { status: 'OK', ...(txs.length > 0 ? { txs } : {}) };
  }

  #hash(kind: string): string {
    this.#hashCount += 1;
    return createHash('sha256').update(`${kind} ${this.#hashCount}`).digest('hex');
  }
}
