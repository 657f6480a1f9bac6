/**
 * One call, from its first attempt to its answer. What may be sent again is sent again: a call that was turned away for its rate
 * (429 was never carried out), a fault (5xx) or a broken connection. All of that is safe, because every POST carries an idempotency
 * key that stays the same over its attempts, and the other methods do the same thing twice.
 */
import createClient, { type Client, defaultPathSerializer } from 'openapi-fetch';
import { AttemptSignal } from './attempt-signal.ts';
import { ApiError, ConnectionError, SkerryError, TimeoutError } from './errors.ts';
import { type Bucket, Pacer } from './pacer.ts';
import { randomKey } from './random-key.ts';
import { describeFailure, isOutcomeUnknown } from './request-failure.ts';
import type { paths } from './schema.ts';
import { sleep } from './sleep.ts';

export interface ClientOptions {
  /** The host's address, e.g. `https://skerry.example`. */
  readonly baseUrl: string;
  /** An API token. Undefined is refused: it may be so that `process.env.SKERRY_TOKEN` can stand here as it is. */
  readonly token: string | undefined;
  /** How often a fault or a broken connection is tried again; 3 when left out. */
  readonly maxRetries?: number;
  /** How long a call waits for its turn while the rate is used up, in all; 5 minutes when left out. */
  readonly rateLimitWaitMs?: number;
  /** How long one attempt may take; a minute when left out, 0 for ever. */
  readonly timeoutMs?: number;
  /** Called before a call is sent again, with what it failed with: a fault, a broken connection, or too many calls (429). */
  readonly onRetry?: (error: SkerryError) => void;
  /** Instead of the global `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** What a single call may say beside its body. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Instead of the client's. */
  readonly timeoutMs?: number;
  /** Of a POST: made by itself when left out. Give one to make a call once over restarts of your program. */
  readonly idempotencyKey?: string;
}

export type Api = Client<paths>;
/** What every attempt is sent with. */
export type Attempt = {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly fetch: (request: Request) => Promise<Response>;
};
export interface ApiResponse<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: Response;
}
type Send<T> = (api: Api, attempt: Attempt) => Promise<ApiResponse<T>>;

export interface Call extends CallOptions {
  /** Whether it is a POST: it gets an idempotency key. */
  readonly post?: boolean;
  readonly bucket?: Bucket;
  /** Of a deletion: found gone after an attempt whose answer was lost, it is done. */
  readonly ignoreNotFoundOnRetry?: boolean;
  /** Of a list: without an array in its answer there is nothing to walk. */
  readonly list?: boolean;
}

/** What one call has come to, over its attempts. */
interface CallState {
  readonly idempotencyKey: string | null;
  /** Whether an attempt changed something perhaps, and its answer was lost. */
  mayBeDone: boolean;
}

const MAX_RETRIES = 3;
const RATE_LIMIT_WAIT_MS = 5 * 60_000;
const TIMEOUT_MS = 60_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
const SECOND_MS = 1_000;

export class Transport {
  readonly #api: Api;
  readonly #options: ClientOptions;
  readonly #pacers: Readonly<Record<Bucket, Pacer>> = {
    general: new Pacer('general'),
    provision: new Pacer('provision'),
  };
  /** Ends in /v1. */
  readonly baseUrl: string;
  /** Private, so that whoever prints a client does not print it. */
  readonly #token: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.baseUrl = apiUrl(options.baseUrl);
    this.#token = checkToken(options.token);
    this.#api = createClient<paths>({
      baseUrl: this.baseUrl,
      headers: { authorization: `Bearer ${this.#token}` },
      // A redirect would take the token elsewhere, and turn a POST into a GET.
      redirect: 'error',
      pathSerializer: serializePath,
    });
  }

  /** A request as it is: for what has a stream for an answer. */
  fetch(request: Request): Promise<Response> {
    const { fetch = globalThis.fetch } = this.#options;
    return fetch(request);
  }

  get token(): string {
    return this.#token;
  }

  /** Sends until there is an answer that no further attempt would better. */
  async run<T>(send: Send<T>, call: Call = {}): Promise<T> {
    const idempotencyKey = call.post ? (call.idempotencyKey ?? randomKey()) : null;
    const course: CallState = { idempotencyKey, mayBeDone: false };
    const answer = await this.withRetries(() => this.#attempt(send, call, course), call);
    if (!hasStatus(answer, 404)) return unwrap(answer).data as T;
    if (call.ignoreNotFoundOnRetry && answer.mayBeDone) return undefined as T;
    throw answer;
  }

  /** What an attempt gives, made again while that may help; the last error, where it does not. */
  async withRetries<T>(attempt: () => Promise<T | SkerryError>, call: Call): Promise<T | SkerryError> {
    const pacer = this.#pacers[call.bucket ?? 'general'];
    const { maxRetries = MAX_RETRIES, rateLimitWaitMs = RATE_LIMIT_WAIT_MS, onRetry } = this.#options;
    const deadlineMs = Date.now() + rateLimitWaitMs;
    for (let failures = 0; ; ) {
      await pacer.acquire(deadlineMs, call.signal);
      const outcome = await attempt();
      if (!(outcome instanceof SkerryError)) return outcome;
      if (hasStatus(outcome, 429)) {
        pacer.backOff((outcome.retryAfterS ?? 1) * SECOND_MS);
        if (Date.now() + pacer.waitMs > deadlineMs) return outcome;
        onRetry?.(outcome);
        continue;
      }
      const pauseMs = computeBackoffMs(outcome, failures);
      if (pauseMs === null || failures >= maxRetries) return outcome;
      failures += 1;
      onRetry?.(outcome);
      await sleep(pauseMs, call.signal);
    }
  }

  async #attempt<T>(send: Send<T>, call: Call, state: CallState): Promise<ApiResponse<T> | SkerryError> {
    const { idempotencyKey } = state;
    const headers = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey };
    const timeoutMs = call.timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS;
    const attemptSignal = new AttemptSignal(call.signal);
    let sent: Request | undefined;
    const fetch = (request: Request) => {
      sent = request;
      attemptSignal.request = request;
      return this.fetch(request);
    };
    try {
      const answer = await attemptSignal.withTimeout(
        timeoutMs,
        send(this.#api, { headers, signal: attemptSignal.signal, fetch }),
      );
      const { response, data, error } = answer;
      if (response.ok && isComplete(answer, call)) return answer;
      state.mayBeDone ||= isOutcomeUnknown(sent, response.ok ? data : response);
      if (!response.ok)
        return new ApiError(response, error, { idempotencyKey, mayBeDone: mayStillBeDone(response, state) });
      return new ConnectionError(`${this.baseUrl} answered without what was asked for.`, state);
    } catch (cause) {
      if (call.signal?.aborted) throw call.signal.reason;
      // What the caller gave cannot be sent: nothing was, and nothing would be.
      if (!sent) throw cause;
      state.mayBeDone ||= isOutcomeUnknown(sent, cause);
      const options = { ...state, cause };
      if (attemptSignal.timedOut) return new TimeoutError(`No answer came within ${timeoutMs} ms.`, options);
      return new ConnectionError(`${this.baseUrl} ${describeFailure(cause)}.`, options);
    } finally {
      attemptSignal.dispose();
    }
  }
}

function unwrap<T>(outcome: T | SkerryError): T {
  if (outcome instanceof SkerryError) throw outcome;
  return outcome;
}

/** Whether the answer of a success is there: something between here and the service may have put its own in its place. */
function isComplete({ response, data }: ApiResponse<unknown>, { list }: Call): boolean {
  if (response.status === 204) return true;
  if (typeof data !== 'object' || data === null) return false;
  return !list || Array.isArray((data as { readonly data?: unknown }).data);
}

/** A POST that is refused for what it says was not done before either: its key would have brought the answer of then. */
function mayStillBeDone({ status }: Response, { mayBeDone, idempotencyKey }: CallState): boolean {
  return mayBeDone && !(idempotencyKey !== null && [400, 404, 422].includes(status));
}

/** The service's own wait where it names a short one, else twice as long each time, somewhere in the upper half; null: never again. */
function computeBackoffMs(error: SkerryError, failures: number): number | null {
  const isTransient = error instanceof ApiError ? error.status >= 500 : true;
  const requestedMs = error instanceof ApiError ? (error.retryAfterS ?? 0) * SECOND_MS : 0;
  if (!isTransient || requestedMs > MAX_BACKOFF_MS) return null;
  const pauseMs = Math.min(FIRST_BACKOFF_MS * 2 ** failures, MAX_BACKOFF_MS);
  return Math.max(requestedMs, pauseMs * (0.5 + Math.random() / 2));
}

function hasStatus(outcome: unknown, status: number): outcome is ApiError {
  return outcome instanceof ApiError && outcome.status === status;
}

/** An id that is empty or `..` would make another path, of something else. */
function serializePath(path: string, ids: Readonly<Record<string, unknown>>): string {
  for (const [name, id] of Object.entries(ids)) {
    if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) {
      throw new SkerryError(`${name === 'id' ? 'the id' : name} is not an id`);
    }
  }
  return defaultPathSerializer(path, ids);
}

function apiUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  // Never shown, as the token below: what was passed by mistake may be a secret.
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new SkerryError('baseUrl is not the address of a service, such as https://skerry.example');
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`;
}

function checkToken(token: unknown): string {
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new SkerryError('token is not an API token');
  }
  return token;
}
