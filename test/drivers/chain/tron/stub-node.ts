/** A stub Tron node: a chain in memory, with responses in java-tron's documented format. */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toTronHex } from '../../../../src/drivers/chain/addresses.ts';

export const MAIN_NET = '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc';
export const USDT = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** An account and a contract. */
const SENDER = `41${'5e'.repeat(20)}`;
const CONTRACT = `41${'c0'.repeat(20)}`;
const BLOCK_MS = 3_000;
const SOLID_DEPTH = 18;

type Json = Record<string, unknown>;

interface Transaction {
  readonly txid: string;
  readonly transaction: Json;
  readonly info: Json;
}

interface Block {
  readonly id: string;
  readonly number: number;
  readonly timeMs: number;
  readonly parent: string;
  readonly transactions: readonly Transaction[];
}

export interface InternalCall {
  readonly to: string;
  readonly amount?: bigint;
  readonly note?: string;
  readonly rejected?: boolean;
  readonly tokenId?: string;
}

export class StubTron {
  /** Paths that return a 404 page. */
  readonly notFoundPaths = new Set<string>();
  readonly requests: string[] = [];
  peers = 8;
  decimals: number | null = 6;
  /** Transactions whose outcome is not returned. */
  readonly withoutInfo = new Set<string>();
  /** `vm.saveInternalTx`. */
  savesInternal = true;
  readonly #clock: () => number;
  readonly #server: Server;
  #blocks: Block[];
  #waiting: Transaction[] = [];
  #unsynced: Block[] = [];

  private constructor(clock: () => number, genesis: string) {
    this.#clock = clock;
    const first = { id: genesis, number: 0, timeMs: 0, parent: '', transactions: [] };
    this.#blocks = [{ ...first, parent: createHash('sha256').update('none').digest('hex') }];
    this.#server = createServer((request, response) => {
      void this.#reply(request).then(({ status, body }) => response.writeHead(status).end(body));
    });
  }

  static async start(clock: () => number, genesis = MAIN_NET): Promise<StubTron> {
    const stub = new StubTron(clock, genesis);
    await new Promise<void>((resolve) => {
      stub.#server.listen(0, '127.0.0.1', resolve);
    });
    return stub;
  }

  get node(): { readonly url: string; readonly authorization: null } {
    const { port } = this.#server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, authorization: null };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get height(): number {
    return this.#blocks.length - 1;
  }

  /** Adds a plain transfer of TRX, in sun. */
  transfer(to: string, sun: bigint, contractRet = 'SUCCESS'): string {
    const value = { amount: Number(sun), owner_address: SENDER, to_address: toTronHex(to) };
    return this.#add('TransferContract', value, { contractRet, info: { receipt: { net_fee: 267_000 } } });
  }

  /** Adds a call of a contract with internal transactions. */
  call(inner: readonly InternalCall[], result = 'SUCCESS'): string {
    return this.#run(result, { internal_transactions: inner.map(internalCallJson) });
  }

  /** Adds a call of a token contract. */
  token(logs: readonly { to: string; amount: bigint; contract?: string }[], result = 'SUCCESS'): string {
    const log = logs.map(({ to, amount, contract = USDT }) => ({
      address: toTronHex(contract)?.slice(2),
      topics: [TRANSFER, word(SENDER.slice(2)), word((toTronHex(to) ?? '').slice(2))],
      data: word(amount.toString(16)),
    }));
    return this.#run(result, { log });
  }

  /** Mines blocks at the current time; the first includes the pending transactions. */
  mine(count = 1): void {
    for (let i = 0; i < count; i++) {
      const parent = this.#blocks.at(-1);
      if (parent === undefined) throw new Error('no genesis block');
      const number = parent.number + 1;
      const timeMs = Math.max(parent.timeMs + BLOCK_MS, this.#clock());
      const id = number.toString(16).padStart(16, '0') + randomBytes(24).toString('hex');
      this.#blocks.push({ id, number, timeMs, parent: parent.id, transactions: this.#waiting.splice(0) });
    }
  }

  /** Replaces the newest blocks; their transactions move to the first new block, or are dropped. */
  reorg(depth: number, { drop = false } = {}): void {
    const removed = this.#blocks.splice(this.#blocks.length - depth);
    if (!drop) this.#waiting.unshift(...removed.flatMap(({ transactions }) => transactions));
    this.mine(depth);
  }

  /** Restores an older state: the node lacks its newest blocks until `catchUp`. */
  rollBack(depth: number): void {
    this.#unsynced = this.#blocks.splice(this.#blocks.length - depth);
  }

  catchUp(): void {
    this.#blocks.push(...this.#unsynced.splice(0));
  }

  #run(result: string, outcome: Json): string {
    const value = { owner_address: SENDER, contract_address: CONTRACT, data: 'a9059cbb' };
    const failed = result === 'SUCCESS' ? {} : { result: 'FAILED' };
    const info = {
      contract_address: CONTRACT,
      receipt: { energy_usage_total: 30_000, result },
      ...failed,
      ...outcome,
    };
    return this.#add('TriggerSmartContract', value, { contractRet: result, info });
  }

  #add(type: string, value: Json, { contractRet, info }: { contractRet: string; info: Json }): string {
    const txid = randomBytes(32).toString('hex');
    const raw_data = {
      contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
    };
    const transaction = { ret: [{ contractRet }], signature: ['00'], txID: txid, raw_data };
    this.#waiting.push({ txid, transaction, info: { id: txid, contractResult: [''], ...info } });
    return txid;
  }

  async #reply(request: IncomingMessage): Promise<{ status: number; body: string }> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const path = request.url ?? '';
    this.requests.push(path);
    const answer = ANSWERS[path];
    if (answer === undefined || this.notFoundPaths.has(path))
      return { status: 404, body: '<html>404</html>' };
    const body = JSON.parse(Buffer.concat(parts).toString() || '{}') as Json;
    return { status: 200, body: JSON.stringify(answer(this, body)) };
  }

  newest(depth = 0): Json {
    const block = this.#blocks.at(-1 - depth) ?? this.#blocks[0];
    return block === undefined ? {} : blockJson(block, true);
  }

  between(start: number, end: number): Json {
    const block = this.#blocks.slice(start, end).map((each) => blockJson(each, true));
    return block.length === 0 ? {} : { block };
  }

  headAt(number: number): Json {
    const block = this.#blocks[number];
    return block === undefined ? {} : blockJson(block, false);
  }

  infosAt(number: number): unknown {
    const block = this.#blocks[number];
    // Like the node for its genesis block.
    if (block === undefined || number <= 0) return {};
    return block.transactions
      .filter(({ txid }) => !this.withoutInfo.has(txid))
      .map((transaction) => this.#infoJson(block, transaction));
  }

  find(txid: unknown, kind: 'transaction' | 'info'): Json {
    for (const block of this.#blocks) {
      const found = block.transactions.find((each) => each.txid === txid);
      if (found) return kind === 'info' ? this.#infoJson(block, found) : found.transaction;
    }
    return {};
  }

  #infoJson(block: Block, { info }: Transaction): Json {
    const { internal_transactions, ...rest } = info;
    const inner = this.savesInternal && internal_transactions ? { internal_transactions } : {};
    return { ...rest, ...inner, blockNumber: block.number, blockTimeStamp: block.timeMs };
  }
}

const ANSWERS: Record<string, (stub: StubTron, body: Json) => unknown> = {
  '/wallet/getnowblock': (stub) => stub.newest(),
  '/walletsolidity/getnowblock': (stub) => stub.newest(Math.min(SOLID_DEPTH, stub.height)),
  '/wallet/getblock': (stub, { id_or_num }) => stub.headAt(Number(id_or_num)),
  '/wallet/getblockbylimitnext': (stub, { startNum, endNum }) =>
    stub.between(Number(startNum), Number(endNum)),
  '/wallet/gettransactioninfobyblocknum': (stub, { num }) => stub.infosAt(Number(num)),
  '/wallet/gettransactioninfobyid': (stub, { value }) => stub.find(value, 'info'),
  '/wallet/gettransactionbyid': (stub, { value }) => stub.find(value, 'transaction'),
  '/wallet/getnodeinfo': (stub) => {
    const solid = Math.max(0, stub.height - SOLID_DEPTH);
    return { solidityBlock: `Num:${solid},ID:00`, currentConnectCount: stub.peers, totalFlow: 0 };
  },
  '/wallet/triggerconstantcontract': ({ decimals }) =>
    decimals === null
      ? { result: { code: 'CONTRACT_VALIDATE_ERROR', message: 'aa' } }
      : { result: { result: true }, constant_result: [word(decimals.toString(16))] },
};

/** Numbers that are zero are left out. */
function blockJson({ id, number, timeMs, parent, transactions }: Block, detail: boolean): Json {
  const raw_data = {
    ...(number === 0 ? {} : { number }),
    ...(timeMs === 0 ? {} : { timestamp: timeMs }),
    parentHash: parent,
    witness_address: SENDER,
  };
  const listed = detail && transactions.length > 0;
  return {
    blockID: id,
    block_header: { raw_data, witness_signature: '00' },
    ...(listed ? { transactions: transactions.map(({ transaction }) => transaction) } : {}),
  };
}

function internalCallJson({ to, amount = 0n, note = 'call', rejected = false, tokenId }: InternalCall): Json {
  const value = amount === 0n ? {} : { callValue: Number(amount) };
  return {
    hash: randomBytes(32).toString('hex'),
    caller_address: CONTRACT,
    transferTo_address: toTronHex(to),
    callValueInfo: [{ ...value, ...(tokenId === undefined ? {} : { tokenId }) }],
    note: Buffer.from(note).toString('hex'),
    ...(rejected ? { rejected } : {}),
  };
}

function word(digits: string): string {
  return digits.padStart(64, '0');
}
