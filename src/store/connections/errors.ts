/** Errors of the database: what they say, and whether the request may be repeated. */
import { DeadlineExceeded, OutcomeUnknown } from '../../kernel/faults/deadline.ts';
import { lacksResources } from '../../kernel/faults/resources.ts';

/** SQLSTATE of a lock timeout. */
export const LOCK_NOT_AVAILABLE = '55P03';
/** SQLSTATE of a row that a constraint or the bound of a partition refuses. */
export const CHECK_VIOLATION = '23514';

/** Statements that change something, and must not run twice. */
export const WRITES = /\b(?:insert|update|delete|merge)\b/i;

/** A statement was sent, and its response did not come within the request's time. */
export class StatementTimeout extends DeadlineExceeded {}

/** Whether the connection failed before it received the response to a statement. */
export function hasNoResponse(error: unknown): error is Error {
  if (error instanceof DeadlineExceeded) return error instanceof StatementTimeout;
  const { severity } = (error ?? {}) as { readonly severity?: unknown };
  if (severity === undefined) return isUnavailable(error);
  return severity === 'FATAL' || severity === 'PANIC' || /^(?:08|57P)/.test(sqlState(error));
}

/** Returns the SQLSTATE of a database error, or an empty string. */
export function sqlState(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** Returns the name of the constraint that the error violates, or an empty string. */
export function violatedConstraint(error: unknown): string {
  const name = (error as { constraint?: unknown } | null)?.constraint;
  return typeof name === 'string' ? name : '';
}

/**
 * Whether the database is down, full, read-only, or overloaded, or this machine lacks resources, so that the
 * request may be retried later. A missing or forbidden file counts only when connecting to a socket: anywhere
 * else it is our own error.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DeadlineExceeded || error instanceof OutcomeUnknown) return true;
  if (lacksResources(error)) return true;
  const state = sqlState(error);
  if (/^(08|53|57P|58)/.test(state) || UNAVAILABLE_STATES.has(state)) return true;
  if (/^E(CONN|PIPE|TIMEDOUT|HOSTUNREACH)/.test(state)) return true;
  if ((error as { syscall?: unknown } | null)?.syscall === 'connect') return true;
  const message = error instanceof Error ? error.message : '';
  return UNAVAILABLE_MESSAGE.test(message);
}

/** A canceled statement, a lock timeout, a database that is read-only. */
const UNAVAILABLE_STATES = new Set(['57014', LOCK_NOT_AVAILABLE, '25006']);

/** Errors of the pg client that carry no code. */
const UNAVAILABLE_MESSAGE = new RegExp(
  [
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Client has encountered a connection error',
    'not queryable',
    'Query read timeout',
    'Received unexpected \\w+ message from backend',
  ].join('|'),
);
