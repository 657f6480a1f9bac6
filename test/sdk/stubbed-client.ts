/** A client whose service is a list of answers, and a clock for its pauses that moves by itself. */
import type { TestContext } from 'node:test';
import { type ClientOptions, Skerry } from '@skerry/sdk';

/** What is answered to one request: a status with its body, or what the connection fails with. */
export type StubResponse =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | Error;

export interface StubbedClient {
  readonly skerry: Skerry;
  readonly sent: Request[];
  /** When each request came, in milliseconds since the first. */
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

/** `answers` in turn, the last one for ever; or what a function says of each request. */
export function createStubbedClient(
  answers: readonly StubResponse[] | ((request: Request) => StubResponse),
  options: Partial<ClientOptions> = {},
): StubbedClient {
  const sent: Request[] = [];
  const atMs: number[] = [];
  const began = Date.now();
  const fetch = async (request: Request) => {
    const answer =
      typeof answers === 'function' ? answers(request) : (answers[sent.length] ?? answers.at(-1));
    sent.push(request);
    atMs.push(Date.now() - began);
    request.signal.throwIfAborted();
    if (answer === undefined || answer instanceof Error) throw answer ?? CONNECTION_ERROR;
    const { status, body, headers = {} } = answer;
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
    return new Response(status === 204 ? null : text, { status, headers });
  };
  return {
    skerry: new Skerry({ baseUrl: 'http://127.0.0.1:9', token: TOKEN, fetch, ...options }),
    sent,
    atMs,
  };
}

/** Lets time pass in steps until the promise has settled; `limitMs` is of that time. */
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
    // What is under way goes on until all of it waits for the time.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    t.mock.timers.tick(STEP_MS);
  }
  t.mock.timers.reset();
  return await result;
}
