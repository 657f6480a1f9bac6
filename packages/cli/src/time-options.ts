/** Times on the command line: RFC 3339, a date, or a duration such as 90d. */
import { Failure } from './exit-codes.ts';
import type { Option } from './options.ts';

const MINUTE_MS = 60_000;
const UNITS_MS = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 1_440 * MINUTE_MS, w: 7 * 1_440 * MINUTE_MS } as const;

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
