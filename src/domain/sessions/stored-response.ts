/**
 * The stored form of a response. It may contain secrets that are shown only once, so it is sealed with a key
 * derived from the caller's credential (session cookie or bearer token) and the idempotency key. Neither is
 * stored, so a replay is identical and a database dump reveals nothing. A keyed hash of method, path, query,
 * and body identifies the request.
 */
import type { KeyObject } from 'node:crypto';
import { deriveKey, digest, type KeyRing, openWith, sealWith } from '../../kernel/secrets.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { ResponseRow, StoredResponse } from '../../store/idempotency.ts';
import type { CustomerActor, Service } from '../context.ts';

/** The request that a key stands for. */
export interface KeyedRequest {
  readonly actor: Pick<CustomerActor, 'customerId' | 'requestId'>;
  /** The session cookie's value or the bearer token. */
  readonly credential: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly query: object;
    readonly body: unknown;
  };
}

/** A response in the form of its API. */
export interface ApiResponse {
  /** HTTP status. */
  readonly status: number;
  readonly body: object;
}

export function responseRow(
  { keys, clock }: Pick<Service, 'keys' | 'clock'>,
  request: KeyedRequest,
  key: string,
  { status, body }: ApiResponse,
): ResponseRow {
  const now = clock.now();
  return {
    customer_id: request.actor.customerId,
    key_digest: digest(key),
    retained_since: retentionCutoff(now),
    now,
    fingerprint: fingerprint(keys, request),
    answer_status: status,
    answer: sealWith(responseKey(request, key), JSON.stringify(body)),
    request_id: request.actor.requestId,
  };
}

/** Returns undefined if the response belongs to another request, or to another caller. */
export function openResponse(
  keys: KeyRing,
  stored: StoredResponse,
  request: KeyedRequest,
  key: string,
): object | undefined {
  const [keyId = ''] = stored.fingerprint.split('.');
  if (!keys.has(keyId) || stored.fingerprint !== fingerprint(keys, request, keyId)) return undefined;
  try {
    return JSON.parse(openWith(responseKey(request, key), stored.answer).toString('utf8')) as object;
  } catch {
    // It does not open with another credential.
    return undefined;
  }
}

function responseKey(request: KeyedRequest, key: string): KeyObject {
  return deriveKey(Buffer.from(`${request.credential}\n${key}`), 'idempotent answer');
}

function fingerprint(keys: KeyRing, { request }: KeyedRequest, keyId = keys.newestId): string {
  const text = JSON.stringify([
    request.method,
    request.path,
    canonicalize(request.query),
    canonicalize(request.body),
  ]);
  return `${keyId}.${keys.hmac('idempotency', text, keyId).toString('base64url')}`;
}

/** Sorts object keys, so that two spellings of one body are equal. */
function canonicalize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalize);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // Wrap the entries, so that an object never equals a list.
  return { entries: entries.map(([name, inner]) => [name, canonicalize(inner)]) };
}

export function retentionCutoff(now: Date): Date {
  return new Date(now.getTime() - LIMITS.idempotencyRetentionHours * HOUR_MS);
}
