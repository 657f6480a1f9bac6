/**
 * How column values become values of ours: 8-byte integers bigint, numerics and dates text, times `Date`.
 * Times and empty arrays are parsed here, because the driver's parsers accept every format, at ten times the
 * cost.
 */
import pg from 'pg';

const { builtins } = pg.types;
const TEXT_ARRAY = 1009;
const UUID_ARRAY = 2951;

type Parser = (text: string) => unknown;

/** The driver's type names have no arrays. */
type TypeId = Parameters<typeof pg.types.getTypeParser>[0];

const ARRAYS = [TEXT_ARRAY, UUID_ARRAY] as const;
const parseAnyTime = pg.types.getTypeParser(builtins.TIMESTAMPTZ) as (text: string) => Date;

export function createColumnTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  types.setTypeParser(builtins.INT8, (text) => BigInt(text));
  types.setTypeParser(builtins.NUMERIC, (text) => text);
  types.setTypeParser(builtins.DATE, (text) => text);
  types.setTypeParser(builtins.TIMESTAMPTZ, parseTime);
  for (const array of ARRAYS) {
    const parseArray = pg.types.getTypeParser(array as TypeId) as Parser;
    types.setTypeParser(array as TypeId, (text) => (text === '{}' ? [] : parseArray(text)));
  }
  return types;
}

const DASH = '-'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);
const YEAR_100 = 100;
/** `YYYY-MM-DD HH:MM:SS` */
const SECONDS_END = 19;
/** With six digits after the point. */
const FRACTION_END = 26;

/** Parses `2030-01-31 12:00:00.123456+00`, as a connection in UTC sends it, and truncates to milliseconds. */
export function parseTime(text: string): Date {
  const end = text.length - '+00'.length;
  const isUsual = text.charCodeAt(4) === DASH && end <= FRACTION_END && text.endsWith('+00');
  const year = readDigits(text, 0, 4);
  // Infinity, the years before 100 and after 9999, and other time zones.
  if (!isUsual || year < YEAR_100) return parseAnyTime(text);
  return new Date(
    Date.UTC(
      year,
      readDigits(text, 5, 7) - 1,
      readDigits(text, 8, 10),
      readDigits(text, 11, 13),
      readDigits(text, 14, 16),
      readDigits(text, 17, SECONDS_END),
      readMilliseconds(text, end),
    ),
  );
}

function readDigits(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) value = value * 10 + text.charCodeAt(i) - ZERO;
  return value;
}

/** The database omits zeros at the end. */
function readMilliseconds(text: string, end: number): number {
  let value = 0;
  for (let i = SECONDS_END + 1; i <= SECONDS_END + 3; i++)
    value = value * 10 + (i < end ? text.charCodeAt(i) - ZERO : 0);
  return value;
}
