/**
 * Idempotency keys: the first answer to a key is kept for 24 hours and given again to the same request.
 *
 * The answer is kept in the transaction of the change itself, so there is no moment at which the change is done
 * and its answer is not. Of two requests with one key at the same time, one waits: inside a process on the other's promise,
 * between processes on the row, whose loser is rolled back whole. A refusal seen in such a race is not believed before
 * a look whether the key has an answer by now.
 *
 * An answer may hold secrets shown only once. It is sealed with a key made from the caller's credential (session cookie or
 * bearer token) and the idempotency key, neither of which is stored: a replay is identical, a dump shows nothing. A
 * request is recognised by a keyed hash of its method, path, query and body.
 */
import { fail } from '../kernel/fail.ts';
import { deriveKey, digest, openWith, sealWith } from '../kernel/secrets.ts';
import type { Sql } from '../kernel/sql.ts';
import { HOUR_MS } from '../kernel/time.ts';
import { LIMITS } from '../spec/limits.ts';
import { sqlState } from '../store/db.ts';
import { findStoredResponse, type StoredResponse, storeResponse } from '../store/idempotency.ts';
import type { CustomerActor, Service } from './context.ts';

/** SQLSTATE of a lock that was not had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

export interface IdempotentRequest {
  readonly actor: CustomerActor;
  /** The Idempotency-Key header; undefined: the request is carried out like any other. */
  readonly key: string | undefined;
  /** The session cookie's value or the bearer token. */
  readonly credential: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly query: object;
    readonly body: unknown;
  };
  /** Of a success. */
  readonly status: number;
  /** What is kept of a refusal; undefined: nothing, and a later try runs again. Left out: no refusal is kept. */
  readonly refusal?: (error: unknown) => ApiResponse | undefined;
  /** Writes what else is remembered of a refusal, in the transaction that keeps it. */
  readonly recordRefusal?: (tx: Sql, error: unknown) => Promise<void>;
}

/** An answer as its surface gives it. */
export interface ApiResponse {
  /** HTTP status. */
  readonly status: number;
  readonly body: object;
}

export interface IdempotentResult {
  readonly response: ApiResponse;
  readonly replayed: boolean;
  /** Of the first answer: a replay carries the original's. */
  readonly requestId: string;
}

/** Keeps the answer, in the transaction of the change. A verb calls it last, with what its caller will answer. */
export type SaveResponse = (tx: Sql, answer: object) => Promise<void>;

class KeyAlreadyUsed extends Error {}

const inFlight = new Map<string, Promise<unknown>>();

/**
 * Carries `act` out once per key. `act` calls `keep` in its transaction; when it does not, the answer is kept after it.
 * A refusal that is kept is thrown like any other.
 */
export async function runIdempotent(
  service: Service,
  request: IdempotentRequest,
  run: (keep: SaveResponse | undefined) => Promise<object>,
): Promise<IdempotentResult> {
  const { actor, key, status } = request;
  if (key === undefined) {
    const body = await run(undefined);
    return { response: { status, body }, replayed: false, requestId: actor.requestId };
  }
  requireIdempotencyKey(key);
  const slot = `${actor.customerId} ${key}`;
  for (const deadline = Date.now() + LIMITS.idempotencyWaitMs; ; ) {
    const replay = await findReplay(service, request, key);
    if (replay) return replay;
    const other = inFlight.get(slot);
    if (!other) return await trackInFlight(slot, runAttempt(service, request, key, run));
    await waitForInFlight(other, deadline);
  }
}

/** Refuses with `bad_request` what is no Idempotency-Key. */
export function requireIdempotencyKey(key: string): void {
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= LIMITS.idempotencyKeyMaxChars) return;
  fail('bad_request', { field: 'Idempotency-Key' }, 'Idempotency-Key is 1 to 255 visible ASCII characters.');
}

/** Lets others with the same key wait for this attempt. */
async function trackInFlight<T>(slot: string, attempt: Promise<T>): Promise<T> {
  const settled = attempt.catch(() => undefined);
  inFlight.set(slot, settled);
  try {
    return await attempt;
  } finally {
    inFlight.delete(slot);
  }
}

/** Waits while another request of this process works on the same key. */
async function waitForInFlight(other: Promise<unknown>, deadline: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), Math.max(deadline - Date.now(), 0));
  });
  const first = await Promise.race([other, timeout]);
  clearTimeout(timer);
  if (first === 'late') throwStillInFlight();
}

function throwStillInFlight(): never {
  fail('idempotency_conflict', {}, 'The first request with this Idempotency-Key is still under way.');
}

async function runAttempt(
  service: Service,
  request: IdempotentRequest,
  key: string,
  run: (keep: SaveResponse) => Promise<object>,
): Promise<IdempotentResult> {
  const { status } = request;
  const { requestId } = request.actor;
  let isStored = false;
  const save: SaveResponse = async (tx, body) => {
    await storeForKey(tx, service, request, key, { status, body });
    isStored = true;
  };
  try {
    const body = await run(save);
    if (!isStored) await storeForKey(service.db, service, request, key, { status, body });
    return { response: { status, body }, replayed: false, requestId };
  } catch (error) {
    // The refusal may be the shadow of the other request's success: its deploy took the balance, say.
    const other = await findReplay(service, request, key);
    if (other) return other;
    if (error instanceof KeyAlreadyUsed) fail('idempotency_conflict');
    const refused = request.refusal?.(error);
    if (!refused) throw error;
    return await storeRefusal(service, request, key, refused, error);
  }
}

/** Another process may have been first with an answer of its own: then that one is given. */
async function storeRefusal(
  service: Service,
  request: IdempotentRequest,
  key: string,
  refused: ApiResponse,
  error: unknown,
): Promise<IdempotentResult> {
  try {
    await service.db.transaction(async (tx) => {
      await request.recordRefusal?.(tx, error);
      await storeForKey(tx, service, request, key, refused);
    });
  } catch (failure) {
    if (!(failure instanceof KeyAlreadyUsed)) throw failure;
    const other = await findReplay(service, request, key);
    if (other) return other;
  }
  throw error;
}

async function storeForKey(
  tx: Sql,
  service: Service,
  request: IdempotentRequest,
  key: string,
  { status, body }: ApiResponse,
): Promise<void> {
  const now = service.clock.now();
  const kept = await storeResponse(tx, {
    customerId: request.actor.customerId,
    keyDigest: digest(key),
    retainedSince: retentionCutoff(now),
    now,
    fingerprint: fingerprint(service, request),
    status,
    answer: sealWith(responseKey(request, key), JSON.stringify(body)),
    request_id: request.actor.requestId,
  }).catch(rethrowLockTimeout);
  if (!kept) throw new KeyAlreadyUsed();
}

/** Another process works on the same key, and its row was not to be had in time. */
function rethrowLockTimeout(error: unknown): never {
  if (sqlState(error) === LOCK_NOT_AVAILABLE) throwStillInFlight();
  throw error;
}

async function findReplay(
  service: Service,
  request: IdempotentRequest,
  key: string,
): Promise<IdempotentResult | undefined> {
  const stored = await findStoredResponse(service.db, {
    customerId: request.actor.customerId,
    keyDigest: digest(key),
    retainedSince: retentionCutoff(service.clock.now()),
  });
  if (!stored) return undefined;
  const [keyId = ''] = stored.fingerprint.split('.');
  if (!service.keys.has(keyId) || stored.fingerprint !== fingerprint(service, request, keyId)) {
    fail('idempotency_conflict');
  }
  const response = { status: stored.status, body: openStoredResponse(stored, request, key) };
  return { response, replayed: true, requestId: stored.request_id };
}

function openStoredResponse(stored: StoredResponse, request: IdempotentRequest, key: string): object {
  try {
    return JSON.parse(openWith(responseKey(request, key), stored.answer).toString('utf8')) as object;
  } catch {
    fail('idempotency_conflict');
  }
}

function responseKey(request: IdempotentRequest, key: string): Buffer {
  return deriveKey(Buffer.from(`${request.credential}\n${key}`), 'idempotent answer');
}

function fingerprint(
  service: Service,
  { request }: IdempotentRequest,
  keyId = service.keys.newestId,
): string {
  const text = JSON.stringify([
    request.method,
    request.path,
    canonicalize(request.query),
    canonicalize(request.body),
  ]);
  return `${keyId}.${service.keys.hmac('idempotency', text, keyId).toString('base64url')}`;
}

/** The same value with the keys of its objects in order, so that two spellings of one body are one body. */
function canonicalize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalize);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // In an object of its own, so that it is never taken for a list.
  return { entries: entries.map(([name, inner]) => [name, canonicalize(inner)]) };
}

function retentionCutoff(now: Date): Date {
  return new Date(now.getTime() - LIMITS.idempotencyRetentionHours * HOUR_MS);
}
