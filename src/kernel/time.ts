/** Time formats of the two surfaces, both in UTC. */
export function formatRfc3339(time: Date): string {
  return `${formatTime(time, 'T')}Z`;
}

/** Surface A: `YYYY-MM-DD HH:MM:SS`. */
export function formatSessionTime(time: Date): string {
  return formatTime(time, ' ');
}

const TWO_DIGITS = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));

/** `toISOString` takes several times as long, and a response has many times. */
function formatTime(time: Date, separator: string): string {
  const year = time.getUTCFullYear();
  // It also throws the RangeError of an invalid time.
  if (!(year >= 0 && year <= 9_999)) return time.toISOString().slice(0, 19).replace('T', separator);
  const years = `${TWO_DIGITS[Math.floor(year / 100)]}${TWO_DIGITS[year % 100]}`;
  const day = `${years}-${TWO_DIGITS[time.getUTCMonth() + 1]}-${TWO_DIGITS[time.getUTCDate()]}`;
  const minute = `${TWO_DIGITS[time.getUTCHours()]}:${TWO_DIGITS[time.getUTCMinutes()]}`;
  return `${day}${separator}${minute}:${TWO_DIGITS[time.getUTCSeconds()]}`;
}

/**
 * Parses an RFC 3339 time. Undefined if invalid: a date such as February 30 is not shifted. A leap second,
 * 23:59:60 in UTC, is the second after it, because a Date has none.
 */
export function parseRfc3339(text: string): Date | undefined {
  const match =
    /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const lastDay = new Date(Date.UTC(year, month, 0)).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > lastDay || hour > 23 || minute > 59 || second > 60)
    return undefined;
  if (second === 60) return parseLeapSecond(text);
  const time = new Date(text.replace(' ', 'T'));
  return Number.isNaN(time.getTime()) ? undefined : time;
}

function parseLeapSecond(text: string): Date | undefined {
  const before = parseRfc3339(`${text.slice(0, 17)}59${text.slice(19)}`);
  if (before?.toISOString().slice(11, 19) !== '23:59:59') return undefined;
  return new Date(before.getTime() + SECOND_MS);
}

/**
 * Returns the end of a prepaid cycle in UTC: `months` later, on the anchor day, or on the last day of a
 * shorter month (January 31 → February 28 → March 31).
 */
export function addMonths(from: Date, months: number, anchorDay: number): Date {
  const year = from.getUTCFullYear();
  const month = from.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const end = new Date(from);
  end.setUTCFullYear(year, month, Math.min(anchorDay, lastDay));
  return end;
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
