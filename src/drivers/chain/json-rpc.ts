/** JSON-RPC, as Bitcoin's family, Monero, Ethereum and Solana speak it. */
import {
  ANSWER_MAX_BYTES,
  askNode,
  type NodeAddress,
  NodeError,
  NodeTooLong,
  NodeUnreachable,
} from './node-http.ts';

/** All makes of node take as many in one request (Erigon at most 100, others 1000). */
const AT_ONCE = 20;
/** What geth says of answers that come after 25 MB of others. */
const TOO_LARGE = -32_003;

interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown } | null;
}

export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface CallOptions {
  readonly timeoutMs?: number;
  /** What the answer to a request may have: by default as much for each of its calls as `askNode` says. */
  readonly maxBytes?: number;
  readonly maxValues?: number;
}

export interface BatchOptions extends CallOptions {
  /** Calls in one request. */
  readonly atOnce?: number;
}

export class JsonRpc {
  readonly #node: NodeAddress;
  readonly #path: string;
  readonly #version: '1.0' | '2.0';

  /** `path` is what follows the node's address: `/json_rpc` for Monero. */
  constructor(node: NodeAddress, { path = '', version = '2.0' as '1.0' | '2.0' } = {}) {
    this.#node = node;
    this.#path = path;
    this.#version = version;
  }

  /** The result. Throws NodeError with the node's own code, or NodeUnreachable. */
  async call(
    method: string,
    params: readonly unknown[] | object,
    options: CallOptions = {},
  ): Promise<unknown> {
    const body = { jsonrpc: this.#version, id: 1, method, params };
    const answer = await askNode(this.#node, method, { path: this.#path, body, ...options });
    return resultOf(method, answer.status, answer.body);
  }

  /** However many, a few in each request, their results in order; an error of one is thrown. */
  async batch(calls: readonly Call[], options: BatchOptions = {}): Promise<unknown[]> {
    const results = await this.settled(calls, options);
    for (const result of results) if (result instanceof NodeError) throw result;
    return results;
  }

  /** The same, but in the place of a result that there is none of stands the node's error. */
  async settled(
    calls: readonly Call[],
    { atOnce = AT_ONCE, ...options }: BatchOptions = {},
  ): Promise<unknown[]> {
    const results: unknown[] = [];
    for (let at = 0; at < calls.length; at += atOnce) {
      results.push(...(await this.#slice(calls.slice(at, at + atOnce), options)));
    }
    return results;
  }

  /** What is too large together is asked in parts: whoever can make one answer large holds up no other. */
  async #slice(calls: readonly Call[], options: CallOptions): Promise<unknown[]> {
    try {
      const results = await this.#together(calls, options);
      const isCut = results.some((result) => result instanceof NodeError && result.code === TOO_LARGE);
      if (!isCut || calls.length === 1) return results;
    } catch (error) {
      if (!(error instanceof NodeTooLong) || calls.length === 1) throw error;
    }
    const half = Math.ceil(calls.length / 2);
    const first = await this.#slice(calls.slice(0, half), options);
    return [...first, ...(await this.#slice(calls.slice(half), options))];
  }

  async #together(calls: readonly Call[], options: CallOptions): Promise<unknown[]> {
    const body = calls.map((call, id) => ({ jsonrpc: this.#version, id, ...call }));
    const bound = { maxBytes: calls.length * ANSWER_MAX_BYTES, ...options };
    const answer = await askNode(this.#node, 'batch', { path: this.#path, body, ...bound });
    const { status } = answer;
    // One answer to all of them says what is wrong with them all.
    if (!Array.isArray(answer.body)) {
      resultOf('batch', status, answer.body);
      throw new NodeUnreachable('batch: the node does not answer each call');
    }
    const byId = new Map((answer.body as Answer[]).map((each) => [each?.id, each]));
    return calls.map(({ method }, id) => resultOrError(method, status, byId.get(id)));
  }
}

function resultOrError(method: string, status: number, body: unknown): unknown {
  try {
    return resultOf(method, status, body);
  } catch (error) {
    if (error instanceof NodeError) return error;
    throw error;
  }
}

function resultOf(method: string, status: number, body: unknown): unknown {
  const answer = (typeof body === 'object' && body !== null ? body : {}) as Answer;
  if (answer.error) {
    const { code, message } = answer.error;
    throw new NodeError(method, typeof code === 'number' ? code : 0, String(message ?? 'no reason given'));
  }
  if (status === 401 || status === 403) throw new NodeUnreachable(`${method}: the node refuses our password`);
  if (answer.result === undefined) throw new NodeUnreachable(`${method}: the node answers ${status}`);
  return answer.result;
}
