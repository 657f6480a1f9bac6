/**
 * A cursor holds the position where a page ended. It is signed and bound to the list, its reader, filter, and
 * sort, so a forged cursor, or one from another list, is rejected. Its content is not secret.
 */
import { timingSafeEqual } from 'node:crypto';
import { invalidRequest } from '../../kernel/fail.ts';
import type { KeyRing } from '../../kernel/secrets.ts';
import type { PagePosition } from '../../spec/lists.ts';

export interface CursorScope {
  /** The route's id. */
  readonly list: string;
  readonly customerId: string;
  /** The path's parameters, as JSON: a list may belong to one resource. */
  readonly path: string;
  readonly filter: Readonly<Record<string, string>>;
  readonly sort: string;
}

const MAC_BYTES = 16;

export function makeCursor(keys: KeyRing, position: PagePosition, place: CursorScope): string {
  const payload = JSON.stringify([keys.newestId, position.value, position.id]);
  const signature = mac(keys, keys.newestId, payload, place).toString('base64url');
  return `${Buffer.from(payload).toString('base64url')}.${signature}`;
}

/** Fails with 400 on `cursor` unless `makeCursor` made it for exactly this place. */
export function readCursor(keys: KeyRing, cursor: string, place: CursorScope): PagePosition {
  const [encoded = '', signature = '', ...rest] = cursor.split('.');
  const payload = Buffer.from(encoded, 'base64url').toString('utf8');
  const parts = rest.length === 0 ? parsePayload(payload) : null;
  if (parts === null || !keys.has(parts[0])) return rejectCursor();
  const actualMac = Buffer.from(signature, 'base64url');
  const expectedMac = mac(keys, parts[0], payload, place);
  if (actualMac.length !== MAC_BYTES || !timingSafeEqual(actualMac, expectedMac)) return rejectCursor();
  // A cursor has exactly one valid encoding.
  if (cursor !== `${Buffer.from(payload).toString('base64url')}.${actualMac.toString('base64url')}`)
    return rejectCursor();
  return { value: parts[1], id: parts[2] };
}

function parsePayload(payload: string): [keyId: string, value: string, id: string] | null {
  try {
    const parts = JSON.parse(payload) as unknown;
    const isValid =
      Array.isArray(parts) && parts.length === 3 && parts.every((part) => typeof part === 'string');
    return isValid ? (parts as [string, string, string]) : null;
  } catch {
    return null;
  }
}

function mac(keys: KeyRing, keyId: string, payload: string, place: CursorScope): Buffer {
  const filter = Object.entries(place.filter).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([payload, place.list, place.customerId, place.path, filter, place.sort]);
  return keys.hmac('cursor', text, keyId).subarray(0, MAC_BYTES);
}

function rejectCursor(): never {
  invalidRequest(
    [{ field: 'cursor', issue: 'invalid_value' }],
    'This cursor does not belong to this list, filter, and sort. Pass next_cursor unchanged, or omit cursor.',
  );
}
