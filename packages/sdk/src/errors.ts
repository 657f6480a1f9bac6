/**
 * What a call fails with: always a SkerryError, but for two. A call that the caller ends throws the reason of his signal, and what
 * `fetch` cannot send at all, a key with a line end in it say, is its TypeError.
 */
import type { components } from './schema.ts';

export type ErrorBody = components['schemas']['Error']['error'];
/** The closed list of codes (SPEC "Errors"). */
export type ErrorCode = ErrorBody['code'];
/** One field at fault: `issue` says what is wrong with it, beside it stands the bound or what is allowed. */
export type ErrorItem = ErrorBody['errors'][number];

/** What is known of a call that failed. */
export interface SkerryErrorOptions {
  readonly cause?: unknown;
  readonly mayBeDone?: boolean;
  readonly idempotencyKey?: string | null;
}

const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

export class SkerryError extends Error {
  override name = 'SkerryError';
  /**
   * Whether a call that changes something may have been carried out all the same: it was sent, and its answer did not arrive. False:
   * nothing was done.
   */
  readonly mayBeDone: boolean;
  /** What a POST was sent with: the same call with this key, within 24 hours, is done once in all. Null of all else. */
  readonly idempotencyKey: string | null;

  constructor(message: string, { cause, mayBeDone = false, idempotencyKey = null }: SkerryErrorOptions = {}) {
    super(
      mayBeDone ? `${message} The call may have been carried out all the same.` : message,
      cause === undefined ? {} : { cause },
    );
    this.mayBeDone = mayBeDone;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The service refused: `code` says why, `errors` which fields are at fault. */
export class ApiError extends SkerryError {
  override name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** Null: something between here and the service answered, a proxy say. A later version of the service may know further codes. */
  readonly code: ErrorCode | null;
  /** Empty where no field is at fault. */
  readonly errors: readonly ErrorItem[];
  /** Name it when you ask the host for help. */
  readonly requestId: string | null;
  /** Seconds after which it may work, where the service says so. */
  readonly retryAfterS: number | null;
  /** It is the kept answer to an earlier call with this idempotency key. */
  readonly replayed: boolean;

  constructor(response: Response, body: unknown, options?: SkerryErrorOptions) {
    const error = parseErrorBody(body);
    super(error ? describeError(error) : `The answer was HTTP ${response.status} without a reason.`, options);
    this.status = response.status;
    this.code = error?.code ?? null;
    this.errors = error?.errors ?? [];
    this.requestId = error?.request_id ?? response.headers.get('x-request-id');
    this.retryAfterS = parseRetryAfter(response.headers.get('retry-after')) ?? findRetryAfter(this.errors);
    this.replayed = response.headers.get('idempotent-replayed') === 'true';
  }

  /** The item of a field, a dotted path such as `rules.0.port`. */
  item(field: string): ErrorItem | undefined {
    return this.errors.find((item) => item.field === field);
  }
}

/** The service was not reached, the connection broke, or the answer cannot be read. `cause` says more. */
export class ConnectionError extends SkerryError {
  override name = 'ConnectionError';
}

/** No answer within the call's `timeoutMs`; or, as a WaitTimeoutError, no such status within that of `waitFor`. */
export class TimeoutError extends SkerryError {
  override name = 'TimeoutError';
}

/** The service answered all the time, but the status that was waited for did not come. It may still come. */
export class WaitTimeoutError extends TimeoutError {
  override name = 'WaitTimeoutError';
  /** The last that was seen of it. */
  readonly last: unknown;

  constructor(message: string, last: unknown) {
    super(message);
    this.last = last;
  }
}

/** What was waited for can no longer come: the server is being destroyed, say. */
export class WaitError extends SkerryError {
  override name = 'WaitError';
  /** The last that was seen of it; null when it is gone. */
  readonly last: unknown;

  constructor(message: string, last: unknown) {
    super(message);
    this.last = last;
  }
}

/** A webhook that was not signed with the secret, is too old, or has been changed on its way. */
export class WebhookVerificationError extends SkerryError {
  override name = 'WebhookVerificationError';
}

/** Whether it is a refusal of the service, and one with this code if one is given. */
export function isApiError(error: unknown, code?: ErrorCode): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/** Whether it may be gone when the same is asked a little later: the service is away, at fault, or busy. */
export function mayPass(error: unknown): error is SkerryError {
  if (error instanceof ApiError) return error.status === TOO_MANY_REQUESTS || error.status >= SERVER_ERROR;
  const isWaitTimeout = error instanceof WaitTimeoutError;
  return error instanceof ConnectionError || (error instanceof TimeoutError && !isWaitTimeout);
}

function parseErrorBody(body: unknown): ErrorBody | null {
  const error = (body as { readonly error?: Partial<ErrorBody> } | null | undefined)?.error;
  if (typeof error?.code !== 'string' || !Array.isArray(error.errors)) return null;
  // Items that are none are passed over: what can be told is told.
  const errors = error.errors.filter((item) => typeof item?.field === 'string');
  return { ...(error as ErrorBody), message: String(error.message ?? error.code), errors };
}

function describeError({ message, errors }: ErrorBody): string {
  const items = errors.filter(({ field }) => field !== '').map(({ field, issue }) => `${field}: ${issue}`);
  return items.length > 0 ? `${message} (${items.join(', ')})` : message;
}

function findRetryAfter(errors: readonly ErrorItem[]): number | null {
  return errors.find((item) => item.retry_after_s !== undefined)?.retry_after_s ?? null;
}

function parseRetryAfter(header: string | null): number | null {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : null;
}
