/** JSON-RPC, as spoken by nodes of Bitcoin, Litecoin, Monero, Ethereum, and Solana. */
import {
  type NodeEndpoint,
  NodeError,
  NodeResponseTooLarge,
  NodeUnreachable,
  RESPONSE_MAX_BYTES,
  requestNode,
} from './node-http.ts';

/** Every node implementation accepts this many calls in one request (Erigon at most 100, others 1000). */
const DEFAULT_BATCH_SIZE = 20;
/** geth's code for the calls of a batch beyond 25 MB of responses. */
const RESPONSE_TOO_LARGE = -32_003;

interface RpcResponse {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown } | null;
}

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface CallOptions {
  readonly timeoutMs?: number;
  /** Limits for the response to one request; by default `requestNode`'s limit times the number of calls. */
  readonly maxBytes?: number;
  readonly maxValues?: number;
}

export interface BatchOptions extends CallOptions {
  /** Calls per request. */
  readonly batchSize?: number;
}

export class JsonRpc {
  readonly #node: NodeEndpoint;
  readonly #path: string;

  /** `path` is appended to the node's URL: `/json_rpc` for Monero. */
  constructor(node: NodeEndpoint, { path = '' } = {}) {
    this.#node = node;
    this.#path = path;
  }

  /** Returns the result. Throws NodeError with the node's own code, or NodeUnreachable. */
  async call(
    method: string,
    params: readonly unknown[] | object,
    options: CallOptions = {},
  ): Promise<unknown> {
    const body = { jsonrpc: '2.0', id: 1, method, params };
    const answer = await requestNode(this.#node, method, { path: this.#path, body, ...options });
    return unwrapResult(method, answer.status, answer.body);
  }

  /**
   * Sends any number of calls, a few per request, and returns the results in order; throws the first error.
   */
  async batch(calls: readonly RpcCall[], options: BatchOptions = {}): Promise<unknown[]> {
    const results = await this.batchSettled(calls, options);
    for (const result of results) if (result instanceof NodeError) throw result;
    return results;
  }

  /** Like `batch`, but returns a failed call's NodeError in place of its result. */
  async batchSettled(
    calls: readonly RpcCall[],
    { batchSize = DEFAULT_BATCH_SIZE, ...options }: BatchOptions = {},
  ): Promise<unknown[]> {
    const results: unknown[] = [];
    for (let at = 0; at < calls.length; at += batchSize) {
      results.push(...(await this.#batchOrSplit(calls.slice(at, at + batchSize), options)));
    }
    return results;
  }

  /** Splits a batch whose response is too large, so that one oversized result doesn't block the others. */
  async #batchOrSplit(calls: readonly RpcCall[], options: CallOptions): Promise<unknown[]> {
    try {
      const results = await this.#sendBatch(calls, options);
      const isCut = results.some(
        (result) => result instanceof NodeError && result.code === RESPONSE_TOO_LARGE,
      );
      if (!isCut || calls.length === 1) return results;
    } catch (error) {
      if (!(error instanceof NodeResponseTooLarge) || calls.length === 1) throw error;
    }
    const half = Math.ceil(calls.length / 2);
    const first = await this.#batchOrSplit(calls.slice(0, half), options);
    return [...first, ...(await this.#batchOrSplit(calls.slice(half), options))];
  }

  async #sendBatch(calls: readonly RpcCall[], options: CallOptions): Promise<unknown[]> {
    const body = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
    const bound = { maxBytes: calls.length * RESPONSE_MAX_BYTES, ...options };
    const answer = await requestNode(this.#node, 'batch', { path: this.#path, body, ...bound });
    const { status } = answer;
    // A single response to the whole batch explains what is wrong with the request.
    if (!Array.isArray(answer.body)) {
      unwrapResult('batch', status, answer.body);
      throw new NodeUnreachable('batch: the node did not respond to each call');
    }
    const byId = new Map((answer.body as RpcResponse[]).map((each) => [each?.id, each]));
    return calls.map(({ method }, id) => resultOrError(method, status, byId.get(id)));
  }
}

function resultOrError(method: string, status: number, body: unknown): unknown {
  try {
    return unwrapResult(method, status, body);
  } catch (error) {
    if (error instanceof NodeError) return error;
    throw error;
  }
}

function unwrapResult(method: string, status: number, body: unknown): unknown {
  const answer = (typeof body === 'object' && body !== null ? body : {}) as RpcResponse;
  if (answer.error) {
    const { code, message } = answer.error;
    throw new NodeError(method, typeof code === 'number' ? code : 0, String(message ?? 'no reason given'));
  }
  if (status === 401 || status === 403)
    throw new NodeUnreachable(`${method}: the node rejected the user name or password`);
  if (answer.result === undefined)
    throw new NodeUnreachable(`${method}: the node responded with HTTP ${status}`);
  return answer.result;
}
