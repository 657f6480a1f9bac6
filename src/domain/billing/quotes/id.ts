/**
 * The id of a quote holds its price: nothing is stored. It has the form of every id, 48 bits of time and 80
 * more, which are the price and a MAC. The MAC binds both to the customer and the operation, so an unknown, a
 * foreign, and a mistyped id look alike. It is short, because a guessed id is worth nothing: it limits a
 * price that its sender would pay without it. After a rotation of the service's key, older quotes are void.
 */
import { timingSafeEqual } from 'node:crypto';
import { formatId, parseId } from '../../../kernel/ids.ts';
import type { KeyRing } from '../../../kernel/secrets.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { QuotedOperation } from '../../../spec/schemas/quote.ts';

/** The operation that a quote is for. */
export interface QuoteScope {
  readonly customerId: string;
  readonly operation: QuotedOperation;
  /** `srv_…`; null: the operation makes the resource. */
  readonly resource: string | null;
}

const TIME_BYTES = 6;
const PRICE_BYTES = 5;
const MAC_BYTES = 5;
const SIGNED_BYTES = TIME_BYTES + PRICE_BYTES;

export function makeQuoteId(keys: KeyRing, scope: QuoteScope, cents: bigint, now: Date): string {
  const bytes = Buffer.alloc(SIGNED_BYTES + MAC_BYTES);
  bytes.writeUIntBE(now.getTime(), 0, TIME_BYTES);
  bytes.writeUIntBE(Number(cents), TIME_BYTES, PRICE_BYTES);
  mac(keys, scope, bytes).copy(bytes, SIGNED_BYTES);
  return formatId('quote', bytes.toString('hex'));
}

export function quoteExpiry(quotedAt: Date): Date {
  return new Date(quotedAt.getTime() + LIMITS.quoteMinutes * MINUTE_MS);
}

/** Returns the quoted price in cents; undefined for an id that is not a current quote of this scope. */
export function readQuoteId(keys: KeyRing, scope: QuoteScope, text: string, now: Date): bigint | undefined {
  const uuid = parseId('quote', text);
  if (uuid === undefined) return undefined;
  const bytes = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  if (!timingSafeEqual(bytes.subarray(SIGNED_BYTES), mac(keys, scope, bytes))) return undefined;
  const expiresAt = quoteExpiry(new Date(bytes.readUIntBE(0, TIME_BYTES)));
  return now < expiresAt ? BigInt(bytes.readUIntBE(TIME_BYTES, PRICE_BYTES)) : undefined;
}

function mac(keys: KeyRing, scope: QuoteScope, bytes: Buffer): Buffer {
  const signed = bytes.toString('hex', 0, SIGNED_BYTES);
  const text = JSON.stringify([signed, scope.customerId, scope.operation, scope.resource]);
  return keys.hmac('quote', text).subarray(0, MAC_BYTES);
}
