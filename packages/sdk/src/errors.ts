/**
 * Errors of API calls. Every call throws a SkerryError, with two exceptions: an aborted call throws the
 * reason of the caller's signal, and a request that `fetch` cannot send, such as a key with a line break,
 * throws its TypeError.
 */
import type { components } from './schema.ts';
import type { Action } from './types.ts';

export type ErrorBody = components['schemas']['Error']['error'];
/** The closed list of codes (SPEC "Errors"). */
export type ErrorCode = ErrorBody['code'];
/** A problem with one field: `issue` names it, and other fields contain the bound or the allowed values. */
export type ErrorItem = ErrorBody['errors'][number];

/** Details of a failed call. */
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
   * Whether a change may have taken effect: it was sent, and its response was lost. False: nothing was
   * changed.
   */
  readonly mayBeDone: boolean;
  /**
   * The key of a POST: the same call with this key takes effect once within 24 hours. Null for other methods.
   */
  readonly idempotencyKey: string | null;

  constructor(message: string, { cause, mayBeDone = false, idempotencyKey = null }: SkerryErrorOptions = {}) {
    super(
      mayBeDone ? `${message} The request may have been carried out.` : message,
      cause === undefined ? {} : { cause },
    );
    this.mayBeDone = mayBeDone;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The service refused the call. `code` is the reason; `errors` lists the invalid fields. */
export class ApiError extends SkerryError {
  override name = 'ApiError';
  /** The HTTP status. */
  readonly status: number;
  /** Null: something else responded, such as a proxy. Later versions of the service may add codes. */
  readonly code: ErrorCode | null;
  /** Empty if the error is not about a field. */
  readonly errors: readonly ErrorItem[];
  /** Include it when you ask the host for support. */
  readonly requestId: string | null;
  /** Seconds to wait before the next attempt, if the service names them. */
  readonly retryAfterS: number | null;
  /** Whether this is the stored response to an earlier call with the same idempotency key. */
  readonly replayed: boolean;

  constructor(response: Response, body: unknown, options?: SkerryErrorOptions) {
    const error = parseErrorBody(body);
    super(
      error ? describeError(error) : `The response was HTTP ${response.status} without an error.`,
      options,
    );
    this.status = response.status;
    this.code = error?.code ?? null;
    this.errors = error?.errors ?? [];
    this.requestId = error?.request_id ?? response.headers.get('x-request-id');
    this.retryAfterS = parseRetryAfter(response.headers.get('retry-after')) ?? findRetryAfter(this.errors);
    this.replayed = response.headers.get('idempotent-replayed') === 'true';
  }

  /** Returns the item of a field, such as `rules.0.port`. */
  item(field: string): ErrorItem | undefined {
    return this.errors.find((item) => item.field === field);
  }
}

/**
 * The service is unreachable, the connection broke, or the response is unreadable. `cause` has the details.
 */
export class ConnectionError extends SkerryError {
  override name = 'ConnectionError';
}

/**
 * No response within the call's `timeoutMs`; as a WaitTimeoutError, no such status within that of `waitFor`.
 */
export class TimeoutError extends SkerryError {
  override name = 'TimeoutError';
}

/** The service responded, but the resource did not reach the status in time. It may still do so. */
export class WaitTimeoutError extends TimeoutError {
  override name = 'WaitTimeoutError';
  /** The last observed state. */
  readonly last: unknown;

  constructor(message: string, last: unknown) {
    super(message);
    this.last = last;
  }
}

/** The resource can no longer reach the status, for example because the server is being deleted. */
export class WaitError extends SkerryError {
  override name = 'WaitError';
  /** The last observed state; null if the resource was deleted. */
  readonly last: unknown;

  constructor(message: string, last: unknown) {
    super(message);
    this.last = last;
  }
}

/** The action failed. `action.error` has the cause; the message says whether money went back. */
export class ActionFailedError extends WaitError {
  override name = 'ActionFailedError';
  readonly action: Action;

  constructor(action: Action) {
    super(action.error?.message ?? `The action ${action.id} failed.`, action);
    this.action = action;
  }
}

/** The webhook was not signed with the secret, is too old, or was changed in transit. */
export class WebhookVerificationError extends SkerryError {
  override name = 'WebhookVerificationError';
}

/** Whether the service refused the call, with this code if one is given. */
export function isApiError(error: unknown, code?: ErrorCode): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/** Whether the error may be temporary: the service is unreachable, has failed, or is busy. */
export function mayPass(error: unknown): error is SkerryError {
  if (error instanceof ApiError) return error.status === TOO_MANY_REQUESTS || error.status >= SERVER_ERROR;
  const isWaitTimeout = error instanceof WaitTimeoutError;
  return error instanceof ConnectionError || (error instanceof TimeoutError && !isWaitTimeout);
}

function parseErrorBody(body: unknown): ErrorBody | null {
  const error = (body as { readonly error?: Partial<ErrorBody> } | null | undefined)?.error;
  if (typeof error?.code !== 'string' || !Array.isArray(error.errors)) return null;
  // Skip malformed items and report the rest.
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

/** Codes of Node and its fetch for a connection that was never established, so that nothing was sent. */
const SOCKET_FAILURE = /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const TLS_FAILURE = /^(ERR_TLS_\w+|UNABLE_TO_\w+|\w*CERT\w*)$/;
/** Errors of Node's fetch that have no code: a port that it blocks, and a redirect. */
const REFUSED_BY_FETCH = /bad port|redirect/;
/** Errors from here on come from the service or a proxy in front of it, which may have codes of its own. */
const FIRST_SERVER_ERROR = 500;
/** Exception: the service rejected the request before starting it. */
const SERVICE_UNAVAILABLE = 503;

interface ErrorCause {
  readonly message?: string;
  readonly code?: string;
  readonly syscall?: string;
  readonly cause?: unknown;
}

/** `outcome` is the response or the error of the request. A request that only reads has no effect to lose. */
export function isOutcomeUnknown(request: Request | undefined, outcome: unknown): boolean {
  if (!request || request.method === 'GET') return false;
  if (outcome instanceof Response)
    return outcome.status >= FIRST_SERVER_ERROR && outcome.status !== SERVICE_UNAVAILABLE;
  return !isConnectFailure(outcome);
}

/** Browsers do not give the reason: the connection may have been established. */
function isConnectFailure(error: unknown): boolean {
  const { code = '', syscall, message = '' } = causeOf(error);
  const isConnectCode = SOCKET_FAILURE.test(code) || TLS_FAILURE.test(code);
  return isConnectCode || syscall === 'connect' || REFUSED_BY_FETCH.test(message);
}

/**
 * Describes the cause that a failed fetch hides: `connect ECONNREFUSED …`. `host` is the address of the
 * service.
 */
export function describeFailure(host: string, error: unknown): string {
  if (error instanceof SyntaxError) return `The response of ${host} is not JSON.`;
  const { message, code } = causeOf(error);
  const detail = message || code || (error as ErrorCause | undefined)?.message || String(error);
  if (isConnectFailure(error)) return `Could not reach ${host}: ${detail}.`;
  return `Could not reach ${host}, or the connection broke: ${detail}.`;
}

function causeOf(error: unknown): ErrorCause {
  return ((error as ErrorCause | undefined)?.cause as ErrorCause | undefined) ?? {};
}
