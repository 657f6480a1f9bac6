/** A client with scripted responses, and a fake clock that advances automatically. */
import type { TestContext } from 'node:test';
import { type ClientOptions, Skerry } from '@skerry/sdk';

/** The response to a request: a status with its body, or the error of the connection. */
export type StubResponse =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | Error;

export interface StubbedClient {
  readonly skerry: Skerry;
  readonly sent: Request[];
  /** The time of each request, in milliseconds since the creation of the client. */
  readonly atMs: number[];
}

const STEP_MS = 50;

export const TOKEN = 'skerry_live_not_to_be_shown';
export const CONNECTION_ERROR = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });

export const okResponse = (body: unknown = {}): StubResponse => ({ status: 200, body });
export const errorResponse = (
  status: number,
  code: string,
  errors: readonly object[] = [],
): StubResponse => ({
  status,
  body: { error: { code, message: `refused: ${code}`, request_id: 'req_1', errors } },
});
export const rateLimitedResponse = (retryAfterS: number): StubResponse => ({
  ...(errorResponse(429, 'rate_limited') as Exclude<StubResponse, Error>),
  headers: { 'retry-after': String(retryAfterS) },
});

/** Responds with `responses` in turn and repeats the last one; a function computes each response. */
export function createStubbedClient(
  responses: readonly StubResponse[] | ((request: Request) => StubResponse),
  options: Partial<ClientOptions> = {},
): StubbedClient {
  const sent: Request[] = [];
  const atMs: number[] = [];
  const began = Date.now();
  const fetch = async (request: Request) => {
    const response =
      typeof responses === 'function' ? responses(request) : (responses[sent.length] ?? responses.at(-1));
    sent.push(request);
    atMs.push(Date.now() - began);
    request.signal.throwIfAborted();
    if (response === undefined || response instanceof Error) throw response ?? CONNECTION_ERROR;
    const { status, body, headers = {} } = response;
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
    return new Response(status === 204 ? null : text, { status, headers });
  };
  return {
    skerry: new Skerry({ baseUrl: 'http://127.0.0.1:9', token: TOKEN, fetch, ...options }),
    sent,
    atMs,
  };
}

/** Advances the fake clock until the promise has settled, for at most `limitMs`. */
export async function withFakeTimers<T>(
  t: TestContext,
  promise: () => Promise<T>,
  limitMs = 3_600_000,
): Promise<T> {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() });
  let settled = false;
  const result = promise().finally(() => {
    settled = true;
  });
  result.catch(() => undefined);
  for (let passedMs = 0; !settled && passedMs < limitMs; passedMs += STEP_MS) {
    // Let pending work continue until everything waits for a timer.
    for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(STEP_MS);
  }
  t.mock.timers.reset();
  return await result;
}
