/**
 * HTTP requests to nodes: JSON in both directions, with a timeout and a size limit. Error messages never
 * contain the node's address or password.
 */
import { MAX_VALUES, parseExactJson, TooManyValuesError } from '../../kernel/exact-json.ts';
import { toSingleLine } from '../../kernel/logger.ts';
import { BodyTooLargeError, readBoundedBody } from '../read-bounded.ts';

const TIMEOUT_MS = 15_000;
/** The default limit. Requests for blocks, traces, and lists set their own. */
export const RESPONSE_MAX_BYTES = 1024 ** 2;

/** Minimum bytes per JSON value: a denser response is crafted to keep this process busy. */
const MIN_BYTES_PER_VALUE = 8;

/** The node responded with an error. `code` is the node's own error code. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  readonly code: number;
  constructor(label: string, code: number, message: string) {
    // The message reaches terminals and logs.
    super(`${label}: ${toSingleLine(message.slice(0, 200))} (${code})`);
    this.code = code;
  }
}

/** For `.catch`: null for an error of the node, with one of these codes if there are any. */
export function nullForNodeError(...codes: readonly number[]): (error: unknown) => null {
  return (error) => {
    if (error instanceof NodeError && (codes.length === 0 || codes.includes(error.code))) return null;
    throw error;
  };
}

/** No valid response came from the node. */
export class NodeUnreachable extends Error {
  override readonly name = 'NodeUnreachable';
}

/** The response exceeds the size limit. */
export class NodeResponseTooLarge extends NodeUnreachable {}

/** The node did not respond within the timeout. */
export class NodeTimeout extends NodeUnreachable {}

export interface NodeEndpoint {
  /** Without user, password, and query. */
  readonly url: string;
  /** `?api-key=…`, as node providers use it: appended to every request, after the path. */
  readonly query?: string;
  readonly authorization: string | null;
}

/** `http://user:password@127.0.0.1:8332/wallet/watch`, `https://node.example/?api-key=…`. */
export function parseNodeUrl(text: string): NodeEndpoint {
  const url = new URL(text);
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const query = url.search;
  url.username = '';
  url.password = '';
  url.search = '';
  const authorization = login === ':' ? null : `Basic ${Buffer.from(login).toString('base64')}`;
  return { url: url.href.replace(/\/$/, ''), query, authorization };
}

export interface NodeRequest {
  /** Appended to the node's URL. */
  readonly path?: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** Response size limit; a larger one throws NodeResponseTooLarge. */
  readonly maxBytes?: number;
  /** Limit on JSON values in the response; by default in proportion to `maxBytes`. */
  readonly maxValues?: number;
}

/** Returns the response with any status; numbers as `parseExactJson` reads them. Throws NodeUnreachable. */
export async function requestNode(
  node: NodeEndpoint,
  label: string,
  request: NodeRequest,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { path = '', body, timeoutMs = TIMEOUT_MS, maxBytes = RESPONSE_MAX_BYTES } = request;
  const { maxValues = Math.min(MAX_VALUES, maxBytes / MIN_BYTES_PER_VALUE) } = request;
  try {
    const response = await fetch(node.url + path + (node.query ?? ''), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(node.authorization === null ? {} : { authorization: node.authorization }),
      },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await readBoundedBody(response, maxBytes);
    return { status: response.status, body: text === '' ? null : parseExactJson(text, maxValues) };
  } catch (error) {
    if (error instanceof BodyTooLargeError || error instanceof TooManyValuesError)
      throw new NodeResponseTooLarge(`${label}: the node’s response is too large`);
    if (error instanceof Error && error.name === 'TimeoutError')
      throw new NodeTimeout(`${label}: the request to the node timed out`);
    throw new NodeUnreachable(`${label}: ${describeFailure(error)}`);
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof SyntaxError) return 'the node’s response is not JSON';
  return 'the node cannot be reached';
}
