/**
 * JSON of nodes and price feeds. Its amounts and prices have eight or more decimals, which a double may
 * change: every number that is not a safe integer is parsed as its source text.
 */
import { parseDecimal, parseUnits } from './money.ts';

/** A million values take most of a second, which blocks the process. Real blocks have fewer. */
export const MAX_VALUES = 1_000_000;

/** The JSON has more values than expected. */
export class TooManyValuesError extends SyntaxError {
  override readonly name = 'TooManyValuesError';
}

/** Throws SyntaxError for invalid JSON, and TooManyValuesError before parsing. */
export function parseExactJson(text: string, maxValues = MAX_VALUES): unknown {
  if (!hasAtMostValues(text, maxValues)) throw new TooManyValuesError('too many values');
  return JSON.parse(text, (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && !isExact(value, context?.source) ? context?.source : value,
  );
}

const [COMMA, BRACKET, BRACE] = [',', '[', '{'].map((character) => character.charCodeAt(0));

/** Each value except the first follows one of these. Those inside strings count, too: there are few. */
function hasAtMostValues(text: string, maxValues: number): boolean {
  let count = 0;
  for (let i = 0; i < text.length && count <= maxValues; i++) {
    const character = text.charCodeAt(i);
    if (character === COMMA || character === BRACKET || character === BRACE) count += 1;
  }
  return count <= maxValues;
}

/** A fraction may become an integer as a double, so check its source text. */
function isExact(value: number, source: string | undefined): boolean {
  return source === undefined || (Number.isSafeInteger(value) && /^-?\d+$/.test(source));
}

/** Converts a coin amount from `parseExactJson` to units of 10^-decimals. Throws if it is invalid. */
export function parseCoinAmount(value: unknown, decimals: number): bigint {
  const text = typeof value === 'number' ? String(value) : value;
  const units = typeof text === 'string' ? parseUnits(expandExponent(text), decimals) : undefined;
  if (units === undefined) throw new Error('the node returned an invalid amount');
  return units;
}

/** Converts a number or numeric text of `parseExactJson` to decimals. Undefined if invalid or negative. */
export function toPlainDecimal(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  const decimal = typeof text === 'string' ? expandExponent(text) : undefined;
  return decimal !== undefined && parseDecimal(decimal) ? decimal : undefined;
}

/** `2.5e-7` → `0.00000025`. */
function expandExponent(text: string): string {
  const match = /^(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,2})$/.exec(text);
  if (!match) return text;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${'0'.repeat(100)}${whole}${fraction}${'0'.repeat(100)}`;
  const point = 100 + whole.length + Number(exponent);
  const trimmedWhole = digits.slice(0, point).replace(/^0+(?=\d)/, '');
  const trimmedFraction = digits.slice(point).replace(/0+$/, '') || '0';
  return `${trimmedWhole}.${trimmedFraction}`;
}
