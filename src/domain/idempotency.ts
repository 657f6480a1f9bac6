/**
 * Idempotency keys: the first response to a key is stored for 24 hours and replayed for the same request.
 *
 * The response is stored in the transaction of the change itself, so a committed change always has its
 * response. Of two concurrent requests with the same key, one waits: within a process on the other's
 * promise, between processes on the row, whose loser rolls back completely. A failure in such a race may be
 * a side effect of the winner, so we look for a stored response before we return it.
 *
 * A verb that is one statement stores the response in that statement (`saveResponse.row`). It raises
 * KEY_TAKEN when another process has the key. How a response is sealed is in sessions/stored-response.ts.
 */
import { fail } from '../kernel/fail.ts';
import { OutcomeUnknown, runApart } from '../kernel/faults/deadline.ts';
import { digest } from '../kernel/secrets.ts';
import type { Sql } from '../kernel/sql.ts';
import { settlesWithin } from '../kernel/timeout.ts';
import { LIMITS } from '../spec/limits.ts';
import { isUnavailable, LOCK_NOT_AVAILABLE, sqlState } from '../store/connections/errors.ts';
import { findStoredResponse, KEY_TAKEN, type ResponseRow, storeResponse } from '../store/idempotency.ts';
import type { CustomerActor, SaveResponse, Service } from './context.ts';
import {
  type ApiResponse,
  type KeyedRequest,
  openResponse,
  responseRow,
  retentionCutoff,
} from './sessions/stored-response.ts';

/** To find out whether a change was made whose commit was not confirmed. */
const CHECK_AGAIN_MS = 1_000;
/** The database's own limit for one lock ends the wait first. */
const KEY_LOCK_WAIT_MS = LIMITS.idempotencyWaitMs + 1_000;

export interface IdempotentRequest<Caller extends CustomerActor = CustomerActor> extends KeyedRequest {
  readonly actor: Caller;
  /** The Idempotency-Key header; undefined runs the request without idempotency. */
  readonly key: string | undefined;
  /** The HTTP status of a success. */
  readonly status: number;
  /**
   * Maps a failure to the response to store; undefined: a retry runs again. Omitted: failures are never
   * stored.
   */
  readonly refusal?: (error: unknown) => ApiResponse | undefined;
  /** Writes side effects of a failure in the transaction that stores it. */
  readonly recordRefusal?: (tx: Sql, error: unknown) => Promise<void>;
}

export interface IdempotentResult {
  readonly response: ApiResponse;
  readonly replayed: boolean;
  /** The original request's id, for a replay as well. */
  readonly requestId: string;
}

export type { ApiResponse } from './sessions/stored-response.ts';

class KeyAlreadyUsed extends Error {}

const inFlight = new Map<string, Promise<unknown>>();

/** A verb, and the conversion of its result to the body of the response. */
interface Work<Caller extends CustomerActor, Result extends object> {
  readonly verb: (actor: Caller) => Promise<Result>;
  readonly respond: (result: Result) => object;
}

/**
 * Runs `verb` once per key. It saves its result in its transaction through its actor; otherwise the response
 * is stored afterwards. A stored failure is thrown like any other.
 */
export async function runIdempotent<Caller extends CustomerActor, Result extends object>(
  service: Service,
  request: IdempotentRequest<Caller>,
  verb: (actor: Caller) => Promise<Result>,
  respond: (result: Result) => object = (result) => result,
): Promise<IdempotentResult> {
  const { actor, key, status } = request;
  if (key === undefined) {
    const body = respond(await verb(actor));
    return { response: { status, body }, replayed: false, requestId: actor.requestId };
  }
  requireIdempotencyKey(key);
  const slot = `${actor.customerId} ${key}`;
  for (const deadline = performance.now() + LIMITS.idempotencyWaitMs; ; ) {
    const replay = await findReplay(service, service.reads, request, key);
    if (replay) return replay;
    const other = inFlight.get(slot);
    if (!other) return await trackInFlight(slot, runAttempt(service, request, key, { verb, respond }));
    const waitMs = Math.max(deadline - performance.now(), 0);
    if (!(await runApart(waitMs, () => settlesWithin(other, waitMs)))) throwStillInFlight();
  }
}

/** Fails with `bad_request` if this is not a valid Idempotency-Key. */
export function requireIdempotencyKey(key: string): void {
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= LIMITS.idempotencyKeyMaxChars) return;
  fail(
    'bad_request',
    { field: 'Idempotency-Key' },
    'Idempotency-Key must be 1 to 255 visible ASCII characters.',
  );
}

/** Registers the attempt, so that others with the same key wait for it. */
async function trackInFlight<T>(slot: string, attempt: Promise<T>): Promise<T> {
  const settled = attempt.catch(() => undefined);
  inFlight.set(slot, settled);
  try {
    return await attempt;
  } finally {
    inFlight.delete(slot);
  }
}

function throwStillInFlight(): never {
  fail(
    'idempotency_conflict',
    {},
    'The first request with this Idempotency-Key is still in progress. Retry later.',
  );
}

async function runAttempt<Caller extends CustomerActor, Result extends object>(
  service: Service,
  request: IdempotentRequest<Caller>,
  key: string,
  { verb, respond }: Work<Caller, Result>,
): Promise<IdempotentResult> {
  const { status } = request;
  const { requestId } = request.actor;
  let isStored = false;
  const answerTo = (result: object): ApiResponse => ({ status, body: respond(result as Result) });
  const save = async (tx: Sql, result: object): Promise<void> => {
    await storeForKey(tx, service, request, key, answerTo(result));
    isStored = true;
  };
  const row = (result: object): ResponseRow => {
    isStored = true;
    return responseRow(service, request, key, answerTo(result));
  };
  const saveResponse: SaveResponse = Object.assign(save, { row });
  try {
    const body = respond(await verb({ ...request.actor, saveResponse }));
    if (!isStored) await storeForKey(service.db, service, request, key, { status, body });
    return { response: { status, body }, replayed: false, requestId };
  } catch (error) {
    // The failure may result from the winner's success: for example, its deploy spent the balance.
    const other = await findReplayAfter(error, service, request, key);
    if (other) return other;
    if (error instanceof KeyAlreadyUsed || sqlState(error) === KEY_TAKEN) fail('idempotency_conflict');
    const failed = request.refusal?.(error);
    if (!failed) throw error;
    return await storeRefusal(service, request, key, failed, error);
  }
}

/** If the database does not respond, throws the first error: it says whether something was changed. */
async function findReplayAfter(
  error: unknown,
  service: Service,
  request: IdempotentRequest,
  key: string,
): Promise<IdempotentResult | undefined> {
  const isUnknown = error instanceof OutcomeUnknown;
  const find = () => findReplay(service, service.db, request, key);
  return await (isUnknown ? runApart(CHECK_AGAIN_MS, find) : find()).catch((fault: unknown) => {
    throw isUnknown || isUnavailable(fault) ? error : fault;
  });
}

/** Stores a failure. If another process stored a response first, returns that one. */
async function storeRefusal(
  service: Service,
  request: IdempotentRequest,
  key: string,
  failed: ApiResponse,
  error: unknown,
): Promise<IdempotentResult> {
  try {
    await service.db.transaction(async (tx) => {
      await request.recordRefusal?.(tx, error);
      await storeForKey(tx, service, request, key, failed);
    });
  } catch (failure) {
    if (!(failure instanceof KeyAlreadyUsed)) throw failure;
    const other = await findReplay(service, service.db, request, key);
    if (other) return other;
  }
  throw error;
}

async function storeForKey(
  tx: Sql,
  service: Service,
  request: IdempotentRequest,
  key: string,
  answer: ApiResponse,
): Promise<void> {
  const row = responseRow(service, request, key, answer);
  const stored = await runApart(KEY_LOCK_WAIT_MS, () => storeResponse(tx, row)).catch(rethrowLockTimeout);
  if (!stored) throw new KeyAlreadyUsed();
}

/** A lock timeout means that another process works on the same key. */
function rethrowLockTimeout(error: unknown): never {
  if (sqlState(error) === LOCK_NOT_AVAILABLE) throwStillInFlight();
  throw error;
}

async function findReplay(
  service: Service,
  sql: Sql,
  request: IdempotentRequest,
  key: string,
): Promise<IdempotentResult | undefined> {
  const stored = await findStoredResponse(sql, {
    customerId: request.actor.customerId,
    keyDigest: digest(key),
    retainedSince: retentionCutoff(service.clock.now()),
  });
  if (!stored) return undefined;
  const body = openResponse(service.keys, stored, request, key) ?? fail('idempotency_conflict');
  const response = { status: stored.status, body };
  return { response, replayed: true, requestId: stored.request_id };
}
