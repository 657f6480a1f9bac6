/** The log: one JSON line each on stderr. It never holds an address, an e-mail, a token, a password or a cookie. */
import { isIPv6 } from 'node:net';
import { type Logger, pino } from 'pino';

export type { Logger };

const REDACTED = '[redacted]';
const MESSAGE_MAX_CHARS = 300;

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

export interface Loggers {
  readonly log: Logger;
  /** For lines whose fields are all our own words: nothing to redact, which is half of what a line costs. */
  readonly unredacted: Logger;
}

export function createLoggers(level: string): Loggers {
  // Lines are written together: a write for each would cost more than the line. A process that is killed loses the last.
  const destination = pino.destination({ dest: 2, sync: false, minLength: 8_192, periodicFlush: 200 });
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const paths = SECRET_NAMES.flatMap((name) => ['', '*', '*.*'].map((depth) => `${depth}["${name}"]`));
  const redact = { paths, censor: REDACTED };
  return {
    log: pino({ ...options, redact, serializers: { err: describeError } }, destination),
    unredacted: pino(options, destination),
  };
}

export function createLogger(level: string): Logger {
  return createLoggers(level).log;
}

/**
 * An error without what databases and HTTP clients hang on it: values of rows, requests, addresses. Its message is kept,
 * without what in it looks like a secret or like anybody's address.
 */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = (error as { code?: unknown }).code;
  return {
    type: error.name,
    message: redactText(truncateMessage(error.message), String(code)),
    // Not under `code`: that name is redacted.
    ...(typeof code === 'string' ? { errorCode: code } : {}),
    stack: stackFrames(error).slice(0, 11).join('\n'),
  };
}

/** What an error says, as one line to be kept and shown: without what looks like a secret or like anybody's address. */
export function summarizeError(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed without a reason';
  const line = redactText(truncateMessage(error.message), String((error as { code?: unknown }).code));
  return toSingleLine(line).trim() || error.name;
}

/** In one line, without what moves a terminal's cursor, hides or turns around what stands beside it. */
export function toSingleLine(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ');
}

/** Without the word at its end that may be a piece of a secret. */
function truncateMessage(message: string): string {
  return message.length <= MESSAGE_MAX_CHARS
    ? message
    : message.slice(0, MESSAGE_MAX_CHARS).replace(/\S*$/, '…');
}

function redactText(message: string, code: string): string {
  // The database repeats a value that it could not read; its SQLSTATEs for that begin with 22.
  const text = /^22\w{3}$/.test(code) ? message.replace(/"[^"]*"/g, `"${REDACTED}"`) : message;
  return (
    text
      // Name and password in a URL, and its query.
      .replace(/\/\/[^\s/@]*@/g, `//${REDACTED}@`)
      .replace(/(\w:\/\/[^\s?"']*)\?[^\s"']*/g, `$1?${REDACTED}`)
      .replace(/[^\s<>"'(),:;/@]+@[^\s<>"'(),:;/@]+/g, (mail) =>
        mail.startsWith(REDACTED) ? mail : REDACTED,
      )
      // Tokens, keys, cookies, coin addresses: long, with letters and digits.
      .replace(/[\w-]{20,}/g, (word) => (/\d/.test(word) && /[a-z]/i.test(word) ? REDACTED : word))
      .replace(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, REDACTED)
      .replace(/(?<![\w:.])[0-9a-f:.]{3,}(?!\w)/gi, (word) =>
        isIPv6(word) || isIPv6(word.replace(/[.:]$/, '')) ? REDACTED : word,
      )
  );
}

/** The stack without the message it begins with, which may be long and of several lines. */
function stackFrames(error: Error): string[] {
  const stack = (error.stack ?? '').replace(error.message, '');
  return stack.split('\n').filter((line) => /^\s+at /.test(line));
}
