/**
 * The log on stderr: JSON lines, or readable ones on a terminal. It never contains an address, an email, a
 * token, a password or a cookie.
 */
import { createRequire } from 'node:module';
import { isIPv6 } from 'node:net';
import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

const STDERR = 2;
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

/** The part of the library that we use. */
interface PinoPretty {
  prettyFactory(options: {
    readonly colorize: boolean;
    readonly singleLine: boolean;
    readonly translateTime: boolean;
  }): (line: object) => string;
}

export interface Loggers {
  readonly log: Logger;
  /** For lines whose fields contain only our own words: skips redaction, which is half the cost of a line. */
  readonly unredacted: Logger;
}

export function createLoggers(level: string): Loggers {
  const destination = process.stderr.isTTY ? openTerminalLog() : openJsonLog();
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

/** Lines that wait for a reader that has stalled. More are dropped. */
const WAITING_MAX_BYTES = 64 * 1024 ** 2;

/** Writes lines in batches: one write per line would cost more than the line. A kill loses the last batch. */
function openJsonLog(): DestinationStream {
  const batches = { minLength: 8_192, periodicFlush: 200, maxLength: WAITING_MAX_BYTES };
  return pino.destination({ dest: STDERR, sync: false, ...batches });
}

/**
 * Formats the finished JSON line, which is redacted already. Each line is written before the call returns, in
 * this thread, so that a crash loses none.
 */
function openTerminalLog(): DestinationStream {
  // Loaded on a terminal only.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as PinoPretty;
  // `hasColors` follows NO_COLOR, FORCE_COLOR, and TERM.
  const colorize = process.stderr.hasColors();
  const format = prettyFactory({ colorize, singleLine: true, translateTime: false });
  const destination = pino.destination({ dest: STDERR, sync: true });
  return { write: (line) => destination.write(format(JSON.parse(line, withoutControls))) };
}

/** The values of a line may come from others: they must not control the terminal. A stack keeps its lines. */
function withoutControls(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return name === 'stack' ? value.split('\n').map(toSingleLine).join('\n') : toSingleLine(value);
}

/**
 * Serializes an error without the properties that databases and HTTP clients add: row values, requests,
 * addresses. The message is kept, without anything in it that looks like a secret or an address.
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

/** Returns an error's message as one line that may be stored and shown, without secrets and addresses. */
export function summarizeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const line = redactText(truncateMessage(error.message), String((error as { code?: unknown }).code));
  return toSingleLine(line).trim() || error.name;
}

/** Joins lines, and removes characters that move a terminal's cursor, hide text, or reverse it. */
export function toSingleLine(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ');
}

/** Truncates the message, and drops the last word, which may be part of a secret. */
function truncateMessage(message: string): string {
  return message.length <= MESSAGE_MAX_CHARS
    ? message
    : message.slice(0, MESSAGE_MAX_CHARS).replace(/\S*$/, '…');
}

function redactText(message: string, code: string): string {
  // The database quotes values that it could not parse; those SQLSTATEs begin with 22.
  const text = /^22\w{3}$/.test(code) ? message.replace(/"[^"]*"/g, `"${REDACTED}"`) : message;
  return (
    text
      // User name and password of a URL, and its query.
      .replace(/\/\/[^\s/@]*@/g, `//${REDACTED}@`)
      .replace(/(\w:\/\/[^\s?"']*)\?[^\s"']*/g, `$1?${REDACTED}`)
      .replace(/[^\s<>"'(),:;/@]+@[^\s<>"'(),:;/@]+/g, (mail) =>
        mail.startsWith(REDACTED) ? mail : REDACTED,
      )
      // Tokens, keys, cookies, coin addresses: long words with letters and digits.
      .replace(/[\w-]{20,}/g, (word) => (/\d/.test(word) && /[a-z]/i.test(word) ? REDACTED : word))
      .replace(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, REDACTED)
      .replace(/(?<![\w:.])[0-9a-f:.]{3,}(?!\w)/gi, (word) =>
        isIPv6(word) || isIPv6(word.replace(/[.:]$/, '')) ? REDACTED : word,
      )
  );
}

/** Returns the stack without its leading message, which may be long and have several lines. */
function stackFrames(error: Error): string[] {
  const stack = (error.stack ?? '').replace(error.message, '');
  return stack.split('\n').filter((line) => /^\s+at /.test(line));
}
