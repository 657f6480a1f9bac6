/** Parsers for the hexadecimal values of Ethereum nodes. Each throws NodeError for any other value. */
import { malformedValue } from '../json-values.ts';

/** Up to 2^53. */
export function asHexUint(value: unknown, label: string): number {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,14}$/i.test(value)) {
    const parsed = Number(value);
    if (Number.isSafeInteger(parsed)) return parsed;
  }
  throw malformedValue(label, 'number');
}

export function asHexBigInt(value: unknown, label: string): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw malformedValue(label, 'number');
}

/** Returns it in lowercase with `0x`. */
export function asHexHash(value: unknown, label: string): string {
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)) return value.toLowerCase();
  throw malformedValue(label, 'hash');
}

/** Returns it in lowercase with `0x`. */
export function asHexAddress(value: unknown, label: string): string {
  if (typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)) return value.toLowerCase();
  throw malformedValue(label, 'address');
}
