/** What the command leaves with, by class of what went wrong. Scripts rely on these numbers: they do not change. */
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
  ok: { code: 0, about: 'Done.' },
  internal: { code: 1, about: 'Something went wrong that has no number of its own.' },
  usage: {
    code: 2,
    about: 'The command line is wrong: an unknown option, a missing value, a file that cannot be read.',
  },
  signed_out: { code: 3, about: 'There is no token, or it is no longer good.' },
  forbidden: { code: 4, about: 'The token may not do this, or it is refused for legal reasons.' },
  not_found: { code: 5, about: 'There is no such thing, or more than one has that name.' },
  conflict: { code: 6, about: 'The state of the thing forbids it right now.' },
  refused: { code: 7, about: 'The service refused the values: not for sale there, a limit, the balance.' },
  unavailable: {
    code: 8,
    about: 'The service was not reached, did not answer, is down, or too many calls were made.',
  },
  timeout: { code: 9, about: 'What was waited for did not come in time. It may still come.' },
  failed: { code: 10, about: 'What was waited for can no longer come.' },
  not_confirmed: { code: 11, about: 'Nothing was done, because nobody said yes.' },
  interrupted: { code: 130, about: 'Stopped by Ctrl-C.' },
  terminated: { code: 143, about: 'Stopped by SIGTERM.' },
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

/** For codes that are younger than this command. */
const EXIT_BY_STATUS: Readonly<Record<number, ExitName>> = {
  401: 'signed_out',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  429: 'unavailable',
  451: 'forbidden',
};

/** Ends the command with a message for a person; no stack is shown. */
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
  // A call that was not answered in time, however long something else was waited for with it.
  if (error instanceof ConnectionError || error instanceof TimeoutError) return 'unavailable';
  if (error instanceof WaitError) return 'failed';
  // Found out before anything was sent: an id or an address that cannot be one.
  if (error instanceof SkerryError) return 'usage';
  return 'internal';
}

function exitForApiError({ code, status }: ApiError): ExitName {
  // Something else than the service answered.
  if (code === null) return 'unavailable';
  const known: ExitName | undefined = Object.hasOwn(EXIT_BY_API_CODE, code)
    ? EXIT_BY_API_CODE[code]
    : EXIT_BY_STATUS[status];
  return known ?? (status < 500 ? 'refused' : 'unavailable');
}
