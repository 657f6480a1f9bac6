/** Arguments and options of commands. Each kind defines how its text is parsed. */
import { Failure } from './exit-codes.ts';

/** `T` is the type of the parsed value. */
export interface Option<T> {
  /** Placeholder for the value in help; null for a flag. */
  readonly value: string | null;
  readonly about: string;
  readonly required?: boolean;
  /** Can be given more than once. */
  readonly repeatable?: boolean;
  readonly choices?: readonly string[];
  /** The kind of name that completes it, such as `server`; see `completion/names.ts`. */
  readonly completionKind?: string;
  /** One letter, for `-y`. */
  readonly short?: string;
  /** Parses all given texts; undefined if the option was omitted. */
  readonly parse: (texts: readonly string[] | undefined, name: string) => T;
}

export interface Argument<T> {
  /** This word and everything after it belong to another program, options included. */
  readonly passthrough?: boolean;
  readonly about: string;
  readonly optional?: boolean;
  /** Takes all remaining words. */
  readonly variadic?: boolean;
  readonly choices?: readonly string[];
  readonly completionKind?: string;
  readonly parse: (texts: readonly string[]) => T;
}

type OptionHints = Partial<Pick<Option<unknown>, 'choices' | 'completionKind' | 'short'>>;

/** `--plan <id>` */
export function text(value: string, about: string, hints: OptionHints = {}): Option<string | undefined> {
  return { value, about, ...hints, parse: (texts) => texts?.at(-1) };
}

export function requiredText(value: string, about: string, hints: OptionHints = {}): Option<string> {
  return { value, about, required: true, ...hints, parse: (texts) => texts?.at(-1) ?? '' };
}

/** `--tag web --tag prod`, or `--tag web,prod` */
export function listOf(
  value: string,
  about: string,
  hints: OptionHints = {},
): Option<readonly string[] | undefined> {
  return { value, about, repeatable: true, ...hints, parse: (texts) => texts?.flatMap(splitCommas) };
}

/** `--label env=prod --label tier=web` */
export function pairs(about: string): Option<Readonly<Record<string, string>> | undefined> {
  return {
    value: 'key=value',
    about,
    repeatable: true,
    parse: (texts, name) =>
      texts && Object.fromEntries(texts.filter(Boolean).map((one) => parsePair(one, name))),
  };
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** A whole number. */
export function integer(value: string, about: string, bounds: Bounds = {}): Option<number | undefined> {
  return { value, about, parse: (texts, name) => parseNumber(texts?.at(-1), name, bounds, /^-?\d+$/) };
}

export function requiredInteger(value: string, about: string, bounds: Bounds): Option<number> {
  const { parse, ...shape } = integer(value, about, bounds);
  return { ...shape, required: true, parse: (texts, name) => parse(texts, name) ?? 0 };
}

/** A decimal number, such as an amount in US dollars. */
export function decimal(value: string, about: string, bounds: Bounds): Option<number | undefined> {
  return {
    value,
    about,
    parse: (texts, name) => parseNumber(texts?.at(-1), name, bounds, /^-?\d+(\.\d+)?$/),
  };
}

/** `--hard` */
export function flag(about: string, hints: Pick<OptionHints, 'short'> = {}): Option<boolean> {
  return { value: null, about, ...hints, parse: (texts) => texts !== undefined };
}

/** `--auto-renew=true|false`; undefined if omitted, which leaves the setting unchanged. */
export function booleanOption(about: string): Option<boolean | undefined> {
  return {
    value: 'true|false',
    about,
    choices: ['true', 'false'],
    parse: (texts) => (texts === undefined ? undefined : texts.at(-1) === 'true'),
  };
}

export function arg(
  about: string,
  hints: Pick<OptionHints, 'choices' | 'completionKind'> = {},
): Argument<string> {
  return { about, ...hints, parse: (texts) => texts[0] ?? '' };
}

export function optionalArg(
  about: string,
  hints: Pick<OptionHints, 'choices' | 'completionKind'> = {},
): Argument<string | undefined> {
  return { about, optional: true, ...hints, parse: (texts) => texts[0] };
}

/** One or more words; with `optional`, none as well. */
export function restArg(
  about: string,
  hints: Pick<OptionHints, 'completionKind'> & Pick<Argument<unknown>, 'optional' | 'passthrough'> = {},
): Argument<readonly string[]> {
  return { about, variadic: true, ...hints, parse: (texts) => texts };
}

/** `sshKey` is `--ssh-key`. */
export function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function splitCommas(text: string): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

function parsePair(text: string, name: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Failure('usage', `${name}: "${text}" is invalid; use key=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function parseNumber(
  text: string | undefined,
  name: string,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Bounds,
  pattern: RegExp,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!pattern.test(text) || value < min || value > max) {
    const bounds = [min, max].every(Number.isFinite) ? `; use a number from ${min} to ${max}` : '';
    throw new Failure('usage', `${name}: "${text}" is not a valid number${bounds}`);
  }
  return value;
}

const MINUTE_MS = 60_000;
const UNITS_MS = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 1_440 * MINUTE_MS, w: 7 * 1_440 * MINUTE_MS } as const;

/** Times on the command line: RFC 3339, a date, or a duration such as 90d. */
const DURATION = /^(\d{1,5})([mhdw])$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** `--expires-at 90d`: a duration from now. */
export function futureTime(about: string): Option<string | undefined> {
  return timeOption(`${about} (RFC 3339, a date, or a duration from now: 12h, 90d, 4w)`, 1);
}

/** `--from 7d`: a duration before now. */
export function pastTime(about: string): Option<string | undefined> {
  return timeOption(`${about} (RFC 3339, a date, or a duration before now: 30m, 12h, 7d)`, -1);
}

function timeOption(about: string, sign: 1 | -1): Option<string | undefined> {
  return {
    value: 'time',
    about,
    parse: (texts, name) => {
      const text = texts?.at(-1);
      return text === undefined ? undefined : parseTime(text, name, sign);
    },
  };
}

function parseTime(text: string, name: string, sign: 1 | -1): string {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count && unit) {
    const spanMs = Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
    return new Date(Date.now() + sign * spanMs).toISOString();
  }
  if (DATE.test(text)) return `${text}T00:00:00Z`;
  if (RFC_3339.test(text)) return text;
  const examples = '2027-01-31T12:00:00Z, 2027-01-31, or 90d';
  throw new Failure('usage', `${name}: "${text}" is not a valid time; use a format such as ${examples}`);
}
