/**
 * JSON of nodes and of feeds. Amounts and prices in it are numbers with eight digits and more after the point, which a double may
 * change: every number that is no safe whole one is read as its own text.
 */
import { parseDecimal, parseUnits } from './money.ts';

/** A million take most of a second, in which the process answers nobody. What a block really holds is fewer. */
export const MAX_VALUES = 1_000_000;

/** There are more values in it than anybody needs. */
export class TooManyValuesError extends SyntaxError {
  override readonly name = 'TooManyValues';
}

/** Throws SyntaxError where it is no JSON, and TooManyValues before it is read. */
export function parseExactJson(text: string, maxValues = MAX_VALUES): unknown {
  if (!hasAtMostValues(text, maxValues)) throw new TooManyValuesError('too many values');
  return JSON.parse(text, (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && !isExact(value, context?.source) ? context?.source : value,
  );
}

const [COMMA, BRACKET, BRACE] = [',', '[', '{'].map((sign) => sign.charCodeAt(0));

/** Each value but the first follows one of these signs. Those inside of texts count as well: there are few. */
function hasAtMostValues(text: string, maxValues: number): boolean {
  let signs = 0;
  for (let i = 0; i < text.length && signs <= maxValues; i++) {
    const sign = text.charCodeAt(i);
    if (sign === COMMA || sign === BRACKET || sign === BRACE) signs += 1;
  }
  return signs <= maxValues;
}

/** A fraction may look whole once it is a double: its text decides. */
function isExact(value: number, source: string | undefined): boolean {
  return source === undefined || (Number.isSafeInteger(value) && /^-?\d+$/.test(source));
}

/** A coin amount from `parseExact`, in units of 10^-decimals. Throws where it is none. */
export function parseCoinAmount(value: unknown, decimals: number): bigint {
  const text = typeof value === 'number' ? String(value) : value;
  const units = typeof text === 'string' ? parseUnits(expandExponent(text), decimals) : undefined;
  if (units === undefined) throw new Error('the node gave an amount that is none');
  return units;
}

/** A number from `parseExact`, or a text that is one, as plain decimal text; undefined where it is none, or negative. */
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
  return `${digits.slice(0, point).replace(/^0+(?=\d)/, '')}.${digits.slice(point).replace(/0+$/, '') || '0'}`;
}
