/**
 * Handles a second submission of a form that signs a visitor in. idempotency.ts stores responses per
 * customer, but here the customer is not known yet. Without this, the second submission of a sign-up would
 * report the address as taken and lose the recovery code. So the response is stored under the customer that
 * the form signed in, in the same transaction, and found again through the customer that the form names.
 *
 * A replay requires the same visitor, form, and fields, including the password: the storage key and the
 * sealing key are derived from all of these, and none of them is stored. A submission that differs runs
 * like a new one. A replay is possible for a few minutes, while the session that the response opened is
 * active.
 */
import type { KeyObject } from 'node:crypto';
import { fail } from '../../kernel/fail.ts';
import { deriveKey, digest, openWith, sealWith } from '../../kernel/secrets.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { findCustomerByEmail } from '../../store/customers/customers.ts';
import { deleteStoredResponse, findStoredResponse, storeResponse } from '../../store/idempotency.ts';
import type { Service } from '../context.ts';
import { parseEmail } from '../customers/email/email.ts';
import { findLink } from '../customers/email/links.ts';
import { identify } from './identify.ts';
import type { SaveSignInResponse } from './open.ts';

export interface VisitorForm {
  /** The part of the cookie that stays the same after sign-in. */
  readonly visitor: string;
  /** The key of the rendered form; empty: a second submission is not recognized. */
  readonly key: string;
  readonly path: string;
  readonly fields: ReadonlyMap<string, string>;
  /** The customer who is signed in: the owner of this address, or of this mailed link. */
  readonly target: { readonly email: string } | { readonly resetToken: string };
  readonly requestId: string;
}

/** The response to a successful sign-in. */
export interface SignInResponse {
  readonly cookie: string;
  /** Null if no new code was issued. */
  readonly recoveryCode: string | null;
}

const RETENTION_MS = 10 * MINUTE_MS;
/** Looked up if there is no such customer, so that the work is the same. */
const NO_CUSTOMER_ID = '00000000-0000-0000-0000-000000000000';

/** Handles a form that signs in: `again` recreates the result of `first` from its stored response. */
interface SignInForm<Result> {
  readonly first: () => Promise<Result>;
  readonly again: (letIn: SignInResponse) => Promise<Result>;
}

class ResponseAlreadyStored extends Error {}

const inFlight = new Map<string, Promise<unknown>>();

/**
 * Runs `first` once. A second submission returns the same result, even while the first is in progress.
 * `first` stores its response with `signInResponseSaver`.
 */
export async function runOnceForVisitor<Result>(
  service: Service,
  form: VisitorForm,
  { first, again }: SignInForm<Result>,
): Promise<Result> {
  if (form.key === '') return await first();
  const slot = storageKey(form).toString('base64url');
  const other = inFlight.get(slot) as Promise<Result> | undefined;
  if (other) return await other;
  const attempt = runAttempt(service, form, { first, again });
  inFlight.set(slot, attempt);
  try {
    return await attempt;
  } finally {
    inFlight.delete(slot);
  }
}

async function runAttempt<Result>(
  service: Service,
  form: VisitorForm,
  { first, again }: SignInForm<Result>,
): Promise<Result> {
  const earlier = await findSignInResponse(service, form);
  if (earlier) return await again(earlier);
  try {
    return await first();
  } catch (error) {
    // The failure may be a side effect of a concurrent success in another process, such as a taken address.
    const concurrent = await findSignInResponse(service, form);
    if (concurrent) return await again(concurrent);
    if (error instanceof ResponseAlreadyStored) fail('idempotency_conflict');
    throw error;
  }
}

/**
 * Stores the response in the transaction that opens the session. Of two concurrent submissions, the second
 * rolls back.
 */
export function signInResponseSaver(service: Service, form: VisitorForm): SaveSignInResponse | undefined {
  if (form.key === '') return undefined;
  return async (tx, { customerId, cookie, recoveryCode }) => {
    const now = service.clock.now();
    const keyDigest = storageKey(form);
    const letIn: SignInResponse = { cookie, recoveryCode };
    const stored = await storeResponse(tx, {
      customer_id: customerId,
      key_digest: keyDigest,
      retained_since: retentionCutoff(now),
      now,
      answer_status: 200,
      fingerprint: `visitor.${keyDigest.toString('base64url')}`,
      answer: sealWith(sealingKey(form), JSON.stringify(letIn)),
      request_id: form.requestId,
    });
    if (!stored) throw new ResponseAlreadyStored();
  };
}

async function findSignInResponse(service: Service, form: VisitorForm): Promise<SignInResponse | undefined> {
  const lookupKey = {
    customerId: (await findTargetCustomer(service, form)) ?? NO_CUSTOMER_ID,
    keyDigest: storageKey(form),
  };
  const stored = await findStoredResponse(service.db, {
    ...lookupKey,
    retainedSince: retentionCutoff(service.clock.now()),
  });
  if (!stored) return undefined;
  const letIn = JSON.parse(openWith(sealingKey(form), stored.answer).toString('utf8')) as SignInResponse;
  if ((await identify(service, letIn.cookie)).session) return letIn;
  // That session has ended: run the form again and store its response here.
  await deleteStoredResponse(service.db, { ...lookupKey, requestId: stored.request_id });
  return undefined;
}

async function findTargetCustomer(service: Service, { target }: VisitorForm): Promise<string | undefined> {
  if ('resetToken' in target) return (await findLink(service, 'reset', target.resetToken))?.customer_id;
  return (await findCustomerByEmail(service.db, parseEmail(target.email)?.key ?? ''))?.id;
}

function storageKey(form: VisitorForm): Buffer {
  const key = deriveKey(keyMaterial(form), 'place of an answer to a visitor');
  return digest(key.export().toString('base64'));
}

function sealingKey(form: VisitorForm): KeyObject {
  return deriveKey(keyMaterial(form), 'answer to a visitor');
}

function keyMaterial({ visitor, key, path, fields }: VisitorForm): Buffer {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.from(JSON.stringify([visitor, key, path, sorted]));
}

function retentionCutoff(now: Date): Date {
  return new Date(now.getTime() - RETENTION_MS);
}
