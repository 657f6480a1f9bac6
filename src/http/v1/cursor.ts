/**
 * Cursors: where a page ended, for the next one to begin. Signed and bound to the list, its reader, filter and sort, so
 * that one made up or used elsewhere is refused. Nothing in it is secret.
 */
import { timingSafeEqual } from 'node:crypto';
import { invalid } from '../../kernel/fail.ts';
import type { KeyRing } from '../../kernel/secrets.ts';
import type { PagePosition } from '../../spec/lists.ts';

export interface CursorPlace {
  /** The route's id. */
  readonly list: string;
  readonly customerId: string;
  /** What the path names beside: the list may hang on one resource. */
  readonly path: string;
  readonly filter: Readonly<Record<string, string>>;
  readonly sort: string;
}

const MAC_BYTES = 16;

export function makeCursor(keys: KeyRing, position: PagePosition, place: CursorPlace): string {
  const payload = JSON.stringify([keys.newestId, position.value, position.id]);
  return `${Buffer.from(payload).toString('base64url')}.${mac(keys, keys.newestId, payload, place).toString('base64url')}`;
}

/** Refuses with 400 on `cursor` what was not made by `makeCursor` for this very place. */
export function readCursor(keys: KeyRing, cursor: string, place: CursorPlace): PagePosition {
  const [encoded = '', signature = '', ...rest] = cursor.split('.');
  const payload = Buffer.from(encoded, 'base64url').toString('utf8');
  const parts = rest.length === 0 ? parse(payload) : null;
  if (parts === null || !keys.has(parts[0])) return refuse();
  const given = Buffer.from(signature, 'base64url');
  const right = mac(keys, parts[0], payload, place);
  if (given.length !== MAC_BYTES || !timingSafeEqual(given, right)) return refuse();
  // One cursor has one spelling.
  if (cursor !== `${Buffer.from(payload).toString('base64url')}.${given.toString('base64url')}`)
    return refuse();
  return { value: parts[1], id: parts[2] };
}

function parse(payload: string): [keyId: string, value: string, id: string] | null {
  try {
    const parts = JSON.parse(payload) as unknown;
    const fits =
      Array.isArray(parts) && parts.length === 3 && parts.every((part) => typeof part === 'string');
    return fits ? (parts as [string, string, string]) : null;
  } catch {
    return null;
  }
}

function mac(keys: KeyRing, keyId: string, payload: string, place: CursorPlace): Buffer {
  const filter = Object.entries(place.filter).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([payload, place.list, place.customerId, place.path, filter, place.sort]);
  return keys.hmac('cursor', text, keyId).subarray(0, MAC_BYTES);
}

function refuse(): never {
  invalid(
    [{ field: 'cursor', issue: 'invalid_value' }],
    'This cursor is not of this list with this filter and sort; take next_cursor as it came, or begin without one.',
  );
}
