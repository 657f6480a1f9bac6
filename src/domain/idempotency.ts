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
import { findKept, type KeptAnswer, keepAnswer } from '../store/idempotency.ts';
import type { CustomerActor, Service } from './context.ts';

export interface OnceRequest {
  readonly actor: CustomerActor;
  /** The Idempotency-Key header; undefined: the request is carried out like any other. */
  readonly key: string | undefined;
  /** The session cookie's value or the bearer token. */
  readonly credential: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly query: object;
    readonly body: object;
  };
}

export interface OnceAnswer {
  readonly answer: object;
  readonly replayed: boolean;
  /** Of the first answer: a replay carries the original's. */
  readonly requestId: string;
}

/** Keeps the answer, in the transaction of the change. A verb calls it last, with what its caller will answer. */
export type Within = (tx: Sql, answer: object) => Promise<void>;

class KeyTaken extends Error {}

const underWay = new Map<string, Promise<unknown>>();

/** Carries `act` out once per key. `act` calls `keep` inside its transaction when the answer is to be kept. */
export async function once(
  service: Service,
  request: OnceRequest,
  act: (keep: Within) => Promise<object>,
): Promise<OnceAnswer> {
  const { actor, key } = request;
  if (key === undefined) {
    return { answer: await act(async () => undefined), replayed: false, requestId: actor.requestId };
  }
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > LIMITS.idempotencyKeyMaxChars) {
    fail(
      'bad_request',
      { field: 'Idempotency-Key' },
      'Idempotency-Key is 1 to 255 visible ASCII characters.',
    );
  }
  const place = `${actor.customerId} ${key}`;
  await waitFor(place);
  const attempt = attemptOnce(service, request, key, act);
  const settled = attempt.catch(() => undefined);
  underWay.set(place, settled);
  try {
    return await attempt;
  } finally {
    if (underWay.get(place) === settled) underWay.delete(place);
  }
}

/** Waits while another request of this process works on the same key, 30 seconds at most. */
async function waitFor(place: string): Promise<void> {
  const deadline = Date.now() + LIMITS.idempotencyWaitMs;
  for (let other = underWay.get(place); other; other = underWay.get(place)) {
    const left = deadline - Date.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), Math.max(left, 0));
    });
    const first = await Promise.race([other, late]);
    clearTimeout(timer);
    if (first === 'late') {
      fail('idempotency_conflict', {}, 'The first request with this Idempotency-Key is still under way.');
    }
  }
}

async function attemptOnce(
  service: Service,
  request: OnceRequest,
  key: string,
  act: (keep: Within) => Promise<object>,
): Promise<OnceAnswer> {
  const replay = await findReplay(service, request, key);
  if (replay) return replay;
  const keep: Within = async (tx, answer) => {
    const now = service.clock.now();
    const kept = await keepAnswer(tx, {
      customerId: request.actor.customerId,
      keyDigest: digest(key),
      keptSince: keptSince(now),
      now,
      fingerprint: fingerprint(service, request),
      answer: sealWith(answerKey(request, key), JSON.stringify(answer)),
      request_id: request.actor.requestId,
    });
    if (!kept) throw new KeyTaken();
  };
  try {
    return { answer: await act(keep), replayed: false, requestId: request.actor.requestId };
  } catch (error) {
    // The refusal may be the shadow of the other request's success: its deploy took the balance, say.
    const other = await findReplay(service, request, key);
    if (other) return other;
    if (error instanceof KeyTaken) fail('idempotency_conflict');
    throw error;
  }
}

async function findReplay(
  service: Service,
  request: OnceRequest,
  key: string,
): Promise<OnceAnswer | undefined> {
  const kept = await findKept(service.db, {
    customerId: request.actor.customerId,
    keyDigest: digest(key),
    keptSince: keptSince(service.clock.now()),
  });
  if (!kept) return undefined;
  const [keyId = ''] = kept.fingerprint.split('.');
  if (!service.keys.has(keyId) || kept.fingerprint !== fingerprint(service, request, keyId)) {
    fail('idempotency_conflict');
  }
  return { answer: openAnswer(kept, request, key), replayed: true, requestId: kept.request_id };
}

function openAnswer(kept: KeptAnswer, request: OnceRequest, key: string): object {
  try {
    return JSON.parse(openWith(answerKey(request, key), kept.answer).toString('utf8')) as object;
  } catch {
    fail('idempotency_conflict');
  }
}

function answerKey(request: OnceRequest, key: string): Buffer {
  return deriveKey(Buffer.from(`${request.credential}\n${key}`), 'idempotent answer');
}

function fingerprint(service: Service, { request }: OnceRequest, keyId = service.keys.newestId): string {
  const text = JSON.stringify([request.method, request.path, sorted(request.query), sorted(request.body)]);
  return `${keyId}.${service.keys.hmac('idempotency', text, keyId).toString('base64url')}`;
}

/** The same value with the keys of its objects in order, so that two spellings of one body are one body. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, inner]) => [name, sorted(inner)]);
}

function keptSince(now: Date): Date {
  return new Date(now.getTime() - LIMITS.idempotencyKeptHours * HOUR_MS);
}
