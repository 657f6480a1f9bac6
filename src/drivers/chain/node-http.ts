/**
 * How nodes are asked: HTTP with JSON both ways, a bound on time and on size. What an error says never holds the node's address or
 * its password.
 */
import { MAX_VALUES, parseExactJson, TooManyValuesError } from '../../kernel/exact-json.ts';
import { toSingleLine } from '../../kernel/logger.ts';
import { BodyTooLargeError, readBoundedBody } from '../../kernel/read-bounded.ts';

const TIMEOUT_MS = 15_000;
/** Where a question names none, as those for blocks, traces and lists do. */
export const RESPONSE_MAX_BYTES = 1024 ** 2;

/** Values that an answer may have for its bytes: one with more is made to keep the process busy. */
const MIN_BYTES_PER_VALUE = 8;

/** The node answered, and what it answered is an error. `code` is its own number. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  readonly code: number;
  constructor(label: string, code: number, message: string) {
    // Its words reach terminals and logs.
    super(`${label}: ${toSingleLine(message.slice(0, 200))} (${code})`);
    this.code = code;
  }
}

/** Nothing that can be understood came from the node. */
export class NodeUnreachable extends Error {
  override readonly name = 'NodeUnreachable';
}

/** What the node answered is larger than was asked for. */
export class NodeResponseTooLarge extends NodeUnreachable {}

/** It did not answer in the time that it has. */
export class NodeTimeout extends NodeUnreachable {}

export interface NodeEndpoint {
  /** Without user, password and query. */
  readonly url: string;
  /** `?api-key=…`, as providers of nodes have it: it goes along with every question, behind its path. */
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
  readonly method?: 'GET' | 'POST';
  /** Appended to the node's address. */
  readonly path?: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
  /** What the answer may have. More is not read: NodeTooLong. */
  readonly maxBytes?: number;
  /** The same of its values: by default fewer the shorter it may be. */
  readonly maxValues?: number;
}

/** The answer, whatever its status; numbers as `parseExact` reads them. Throws NodeUnreachable. */
export async function requestNode(
  node: NodeEndpoint,
  label: string,
  request: NodeRequest,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { method = 'POST', path = '', body, timeoutMs = TIMEOUT_MS, maxBytes = RESPONSE_MAX_BYTES } = request;
  const { maxValues = Math.min(MAX_VALUES, maxBytes / MIN_BYTES_PER_VALUE) } = request;
  try {
    const response = await fetch(node.url + path + (node.query ?? ''), {
      method,
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
      throw new NodeResponseTooLarge(`${label}: the node’s answer is too long`);
    if (error instanceof Error && error.name === 'TimeoutError')
      throw new NodeTimeout(`${label}: the node did not answer in time`);
    throw new NodeUnreachable(`${label}: ${describeFailure(error)}`);
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof SyntaxError) return 'the node’s answer is no JSON';
  return 'the node cannot be reached';
}
