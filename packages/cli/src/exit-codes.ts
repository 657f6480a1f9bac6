/**
 * The meaning of a failure: its exit code, and the lines that the user sees. Scripts depend on the codes;
 * never change them.
 */
import {
  ApiError,
  ConnectionError,
  type ErrorCode,
  type ErrorItem,
  SkerryError,
  TimeoutError,
  WaitError,
  WaitTimeoutError,
} from '@skerry/sdk';
import { CommanderError } from 'commander';

export const EXIT_CODES = {
  ok: { code: 0, about: 'Success.' },
  internal: { code: 1, about: 'An unexpected error without a code of its own.' },
  usage: {
    code: 2,
    about: 'Invalid command line: an unknown option, a missing value, or an unreadable file.',
  },
  signed_out: { code: 3, about: 'No token, or the token is no longer valid.' },
  forbidden: {
    code: 4,
    about: 'The token lacks the required scope, or the request was refused for legal reasons.',
  },
  not_found: { code: 5, about: 'Not found, or more than one resource has that name.' },
  conflict: { code: 6, about: 'The current state of the resource does not allow it.' },
  refused: {
    code: 7,
    about: 'The service rejected the values: not available there, a limit, or the balance.',
  },
  unavailable: {
    code: 8,
    about: 'The service is unreachable, did not respond, is down, or limited the rate.',
  },
  timeout: { code: 9, about: 'Timed out while waiting. The result may still arrive.' },
  failed: { code: 10, about: 'The expected result can no longer arrive.' },
  not_confirmed: { code: 11, about: 'Not confirmed, so nothing was done.' },
  interrupted: { code: 130, about: 'Interrupted by Ctrl-C.' },
  terminated: { code: 143, about: 'Terminated by SIGTERM.' },
} as const;
export type ExitName = keyof typeof EXIT_CODES;

const EXIT_BY_API_CODE: Readonly<Record<ErrorCode, ExitName>> = {
  invalid_request: 'refused',
  unauthenticated: 'signed_out',
  forbidden_scope: 'forbidden',
  not_found: 'not_found',
  conflict_state: 'conflict',
  unprocessable: 'refused',
  rate_limited: 'unavailable',
  jurisdictional_block: 'forbidden',
  internal: 'unavailable',
  maintenance: 'unavailable',
};

/** Fallback for error codes that are newer than this CLI. */
const EXIT_BY_STATUS: Readonly<Record<number, ExitName>> = {
  401: 'signed_out',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  429: 'unavailable',
  451: 'forbidden',
};

/** Ends the command with a message for the user and no stack trace. */
export class Failure extends Error {
  readonly exit: ExitName;

  constructor(exit: ExitName, message: string) {
    super(message);
    this.exit = exit;
  }
}

export function exitFor(error: unknown): ExitName {
  if (error instanceof Failure) return error.exit;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 'ok' : 'usage';
  if (error instanceof ApiError) return exitForApiError(error);
  if (error instanceof WaitTimeoutError) return 'timeout';
  // A single call timed out, even if it was made while waiting for something longer.
  if (error instanceof ConnectionError || error instanceof TimeoutError) return 'unavailable';
  if (error instanceof WaitError) return 'failed';
  // The SDK rejected the input before sending anything: an invalid ID or address.
  if (error instanceof SkerryError) return 'usage';
  return 'internal';
}

function exitForApiError({ code, status }: ApiError): ExitName {
  // The response did not come from Skerry.
  if (code === null) return 'unavailable';
  const known: ExitName | undefined = Object.hasOwn(EXIT_BY_API_CODE, code)
    ? EXIT_BY_API_CODE[code]
    : EXIT_BY_STATUS[status];
  return known ?? (status < 500 ? 'refused' : 'unavailable');
}

/** Lines for stderr; empty if commander has already printed the error. */
export function explain(error: unknown): string[] {
  if (error instanceof CommanderError) return [];
  // The user stopped the command on purpose.
  if (error instanceof Failure && error.message === '') return [];
  if (error instanceof ApiError) return explainApiError(error);
  if (error instanceof Failure || error instanceof SkerryError) return [`skerry: ${error.message}`];
  const message = error instanceof Error ? error.message : String(error);
  // An operating system error, such as a full disk, is not a bug in the CLI.
  const isSystem = error instanceof Error && 'syscall' in error;
  return [isSystem ? `skerry: ${message}` : `skerry: unexpected error, this is a bug in the CLI: ${message}`];
}

function explainApiError(error: ApiError): string[] {
  const details = error.errors
    .map(({ field, issue, pattern, ...rest }) => formatDetail(field, rest))
    .filter(Boolean);
  const request = error.requestId === null ? [] : [`  request ID: ${error.requestId}`];
  return [`skerry: ${error.message}`, ...details, ...hintsFor(error), ...request];
}

/** `  plan: have 1.00, need 5.00`; empty if the message says everything, as it does for a pattern. */
function formatDetail(field: string, details: Omit<ErrorItem, 'field' | 'issue'>): string {
  const words = Object.entries(details).map(
    ([name, value]) => `${name.replaceAll('_', ' ')} ${formatValue(name, value)}`,
  );
  return words.length > 0 ? `  ${field === '' ? '' : `${field}: `}${words.join(', ')}` : '';
}

const USD_FIELDS = new Set(['have', 'need', 'deficit', 'price_usd']);

function formatValue(name: string, value: unknown): string {
  if (USD_FIELDS.has(name) && typeof value === 'number') return value.toFixed(2);
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function hintsFor(error: ApiError): string[] {
  if (error.code === 'unauthenticated') return ['  To sign in again, run: skerry login'];
  if (error.code === 'forbidden_scope') return ['  To use a token with a wider scope, run: skerry login'];
  if (error.errors.some(({ issue }) => issue === 'insufficient_balance')) {
    return ['  To see the price, run: skerry quote. To pay, run: skerry topup'];
  }
  if (error.code === null) return ['  Check that the address is a Skerry host: skerry context show'];
  return [];
}
