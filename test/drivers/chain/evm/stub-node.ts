/** A stub Ethereum node: the test sets its network, its blocks, and its capabilities. */
import { methodNotFound, type RpcCall, RpcProxy } from './rpc-proxy.ts';

export const MAINNET_GENESIS = '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3';

export interface StubBlock {
  readonly number: string;
  readonly hash: string;
  readonly parentHash: string;
  readonly timestamp: string;
  readonly transactions: readonly string[];
}

/** A transaction, usually to a contract that pays others. */
export interface StubTransaction {
  readonly hash: string;
  readonly to: string;
  readonly value?: bigint;
  readonly calls?: readonly { readonly to: string; readonly value: bigint }[];
  /** Length of the calldata, which a trace repeats. */
  readonly inputBytes?: number;
  /** The node reports the trace as too long. */
  readonly isTooLong?: boolean;
  readonly logBytes?: number;
}

export class StubNode {
  readonly proxy: RpcProxy;
  /** Fixed, so that blocks keep their times. */
  readonly #startedAtS = Math.floor(Date.now() / 1000);
  chainId = 1;
  genesis = MAINNET_GENESIS;
  height = 100;
  /** Null: the node doesn't report it. */
  finalized: number | null = null;
  tipAgeS = 5;
  syncing: unknown = false;
  peers: string | null = '0x19';
  tracing: 'traces' | 'frames' | 'none' = 'traces';
  /** Blocks below this height can't be traced. */
  tracedFrom = 0;
  /** By block height. */
  readonly transactions = new Map<number, readonly StubTransaction[]>();
  /** Whether the node reports balance changes of a transaction. */
  replays = true;
  /** By `height address`; otherwise 0. */
  readonly balances = new Map<string, bigint>();
  code = '0x6080';
  decimals = 6n;

  private constructor(proxy: RpcProxy) {
    this.proxy = proxy;
    proxy.answer = (call) => this.#answer(call);
  }

  static async start(): Promise<StubNode> {
    return new StubNode(await RpcProxy.start());
  }

  get url(): string {
    return this.proxy.url;
  }

  async close(): Promise<void> {
    await this.proxy.close();
  }

  block(height: number): StubBlock {
    const agoS = this.tipAgeS + 12 * (this.height - height);
    return {
      number: hex(height),
      hash: height === 0 ? this.genesis : hashAt(height),
      parentHash: height === 1 ? this.genesis : hashAt(height - 1),
      timestamp: hex(this.#startedAtS - agoS),
      transactions: this.#transactionsAt(height).map(({ hash }) => hash),
    };
  }

  #transactionsAt(height: number): readonly StubTransaction[] {
    return this.transactions.get(height) ?? [];
  }

  #heightOf(txid: unknown): number | undefined {
    return [...this.transactions].find(([, all]) => all.some(({ hash }) => hash === txid))?.[0];
  }

  #transaction(txid: unknown): StubTransaction | undefined {
    return this.#transactionsAt(this.#heightOf(txid) ?? -1).find(({ hash }) => hash === txid);
  }

  #traces(height: number, txid?: unknown): object[] {
    const blockHash = hashAt(height);
    return this.#transactionsAt(height)
      .filter(({ hash }) => txid === undefined || hash === txid)
      .flatMap(({ hash: transactionHash, to, value = 0n, calls = [], inputBytes = 0 }) => {
        const trace = { type: 'call', blockHash, transactionHash };
        const input = `0x${'ab'.repeat(inputBytes)}`;
        const top = {
          ...trace,
          traceAddress: [],
          action: { callType: 'call', to, value: hex(value), input },
        };
        const inner = calls.map((call, i) => ({
          ...{ ...trace, traceAddress: [i] },
          action: { callType: 'call', to: call.to, value: hex(call.value) },
        }));
        return [top, ...inner];
      });
  }

  #frame(txid: unknown): object {
    const { to, value = 0n, calls = [], inputBytes = 0 } = this.#transaction(txid) ?? { to: '' };
    const input = `0x${'ab'.repeat(inputBytes)}`;
    const inner = calls.map((call) => ({ type: 'CALL', to: call.to, value: hex(call.value) }));
    return { type: 'CALL', to, value: hex(value), input, calls: inner };
  }

  #diff(txid: unknown): object {
    const { to, value = 0n, calls = [] } = this.#transaction(txid) ?? { to: '' };
    const paid = [{ to, value }, ...calls].map((each) => [
      each.to,
      { balance: each.value === 0n ? '=' : { '*': { from: '0x5', to: hex(each.value + 5n) } } },
    ]);
    return { stateDiff: Object.fromEntries(paid) };
  }

  #states(txid: unknown): object {
    const { to, value = 0n, calls = [] } = this.#transaction(txid) ?? { to: '' };
    const paid = [{ to, value }, ...calls].filter((each) => each.value > 0n);
    return {
      pre: Object.fromEntries(paid.map((each) => [each.to, { balance: '0x5', nonce: 1 }])),
      post: Object.fromEntries(paid.map((each) => [each.to, { balance: hex(each.value + 5n) }])),
    };
  }

  #receipt(txid: unknown): object | null {
    const height = this.#heightOf(txid);
    if (height === undefined || height > this.height) return null;
    const { logBytes = 0 } = this.#transaction(txid) ?? {};
    const logs = logBytes === 0 ? [] : [{ data: `0x${'ab'.repeat(logBytes)}` }];
    const place = { blockNumber: hex(height), blockHash: hashAt(height) };
    return { transactionHash: txid, ...place, status: '0x1', logs };
  }

  #declared(txid: unknown): object | null {
    const height = this.#heightOf(txid);
    const { to, value = 0n } = this.#transaction(txid) ?? {};
    return height === undefined ? null : { hash: txid, blockHash: hashAt(height), to, value: hex(value) };
  }

  #balance([address, { blockHash }]: [string, { blockHash: string }]): string {
    const height = Array.from({ length: this.height + 1 }, (_, i) => i).find((i) => hashAt(i) === blockHash);
    return hex(this.balances.get(`${height} ${address.toLowerCase()}`) ?? 0n);
  }

  #answer({ method, params }: RpcCall): ReturnType<RpcProxy['answer']> {
    const answers: Readonly<Record<string, () => unknown>> = {
      eth_chainId: () => hex(this.chainId),
      eth_getBlockByNumber: () => this.#blockAt(params[0]),
      eth_getTransactionReceipt: () => this.#receipt(params[0]),
      eth_getTransactionByHash: () => this.#declared(params[0]),
      eth_getBalance: () => this.#balance(params as [string, { blockHash: string }]),
      eth_getLogs: () => [],
      eth_getCode: () => this.code,
      eth_call: () => `0x${this.decimals.toString(16).padStart(64, '0')}`,
      eth_syncing: () => this.syncing,
      ...(this.peers === null ? {} : { net_peerCount: () => this.peers }),
      ...(this.tracing === 'traces' ? { trace_block: () => this.#traces(Number(params[0])) } : {}),
      ...(this.tracing === 'traces'
        ? { trace_transaction: () => this.#traces(this.#heightOf(params[0]) ?? -1, params[0]) }
        : {}),
      ...(this.tracing === 'traces' && this.replays
        ? { trace_replayTransaction: () => this.#diff(params[0]) }
        : {}),
      ...(this.tracing === 'frames'
        ? {
            debug_traceBlockByHash: () => this.#framesOf(String(params[0])),
            debug_traceTransaction: () => this.#debugged(params),
          }
        : {}),
    };
    if (method === 'eth_getBlockByNumber' && params[0] === 'finalized' && this.finalized === null) {
      return { error: { code: -39001, message: 'unknown block' } };
    }
    if (this.#isTooLong(method, params)) return { error: { code: -32008, message: 'Response is too big' } };
    if (this.#tracedHeight(method, params[0]) < this.tracedFrom)
      return { error: { code: -32000, message: 'missing trie node' } };
    if (method === 'debug_traceBlockByHash' && this.tracing === 'frames' && this.height === 0) {
      return { error: { code: -32000, message: 'genesis is not traceable' } };
    }
    const answer = answers[method];
    return answer ? { result: answer() } : methodNotFound(method);
  }

  /** Returns the height of the block that the call executes again; infinity if it executes none. */
  #tracedHeight(method: string, of: unknown): number {
    if (method === 'trace_block') return Number(of);
    if (!/^(?:trace_|debug_trace)/.test(method)) return Number.POSITIVE_INFINITY;
    return this.#heightOf(of) ?? Number.POSITIVE_INFINITY;
  }

  #isTooLong(method: string, [of, options]: readonly unknown[]): boolean {
    const isFrame = method === 'debug_traceTransaction' && JSON.stringify(options).includes('callTracer');
    if (method === 'trace_transaction' || isFrame) return this.#transaction(of)?.isTooLong === true;
    if (!/^(?:trace_block|debug_traceBlockByHash)$/.test(method)) return false;
    const heights = [...this.transactions.keys()].filter(
      (each) => each === Number(of) || hashAt(each) === of,
    );
    return heights.some((height) => this.#transactionsAt(height).some(({ isTooLong }) => isTooLong === true));
  }

  #framesOf(blockHash: string): object[] {
    const [height = -1] = [...this.transactions.keys()].filter((each) => hashAt(each) === blockHash);
    return this.#transactionsAt(height).map(({ hash }) => ({ txHash: hash, result: this.#frame(hash) }));
  }

  #debugged([txid, options]: readonly unknown[]): object {
    const { tracer } = options as { tracer: string };
    return tracer === 'callTracer' ? this.#frame(txid) : this.#states(txid);
  }

  #blockAt(at: unknown): StubBlock | null {
    const named = { latest: this.height, finalized: this.finalized ?? 0 }[String(at)];
    const height = named ?? Number(at);
    return height > this.height ? null : this.block(height);
  }
}

export function hashAt(height: number): string {
  return `0x${Math.max(0, height).toString(16).padStart(64, 'b')}`;
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
