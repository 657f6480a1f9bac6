/** The log: one JSON line each on stderr. It never holds an address, an e-mail, a token, a password or a cookie. */
import { type Logger, pino } from 'pino';

export type { Logger };

const SECRET_NAMES = [
  'password',
  'password_confirm',
  'current_password',
  'new_password',
  'root_password',
  'recovery_code',
  'code',
  'token',
  '_token',
  'csrf',
  'secret',
  'email',
  'cookie',
  'authorization',
  'ip',
  'remoteAddress',
  'key',
];

export function createLogger(level: string): Logger {
  const paths = SECRET_NAMES.flatMap((name) => ['', '*', '*.*'].map((depth) => `${depth}["${name}"]`));
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths, censor: '[redacted]' },
      serializers: { err: describeError },
    },
    pino.destination({ dest: 2, sync: false }),
  );
}

/** An error without what databases and HTTP clients hang on it: values of rows, requests, addresses. */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: error.message.slice(0, 300),
    // Not under `code`: that name is redacted.
    ...(typeof code === 'string' ? { errorCode: code } : {}),
    stack: framesOf(error).slice(0, 11).join('\n'),
  };
}

/** The stack without the message it begins with, which may be long and of several lines. */
function framesOf(error: Error): string[] {
  const stack = (error.stack ?? '').replace(error.message, '');
  return stack.split('\n').filter((line) => /^\s+at /.test(line));
}
