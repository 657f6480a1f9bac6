/** Numbers and bytes as nodes of Ethereum write them, in hexadecimal. Each throws NodeError where the node gave something else. */
import { unclear } from '../answers.ts';

/** Up to 2^53. */
export function hexWholeOf(value: unknown, what: string): number {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,14}$/i.test(value)) {
    const whole = Number(value);
    if (Number.isSafeInteger(whole)) return whole;
  }
  throw unclear(what, 'number');
}

export function hexUnitsOf(value: unknown, what: string): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw unclear(what, 'number');
}

/** In lower case, with `0x`. */
export function hexHashOf(value: unknown, what: string): string {
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)) return value.toLowerCase();
  throw unclear(what, 'hash');
}

/** In lower case, with `0x`. */
export function addressOf(value: unknown, what: string): string {
  if (typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)) return value.toLowerCase();
  throw unclear(what, 'address');
}
