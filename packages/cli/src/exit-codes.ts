/** Exit codes, one for each kind of failure. Scripts depend on these numbers; never change them. */
import {
  ApiError,
  ConnectionError,
  type ErrorCode,
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
