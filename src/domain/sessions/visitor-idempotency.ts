/**
 * A second click on a form that lets somebody in. There is no customer yet under whom an answer could be kept, as idempotency.ts
 * does it, and without one the second click on a sign-up would be told that the address is taken, and the recovery code be lost. So
 * the answer is kept under the customer whom the form let in, in the transaction that did, and is found again by whom the form names.
 *
 * To be given it again takes the same visitor, the same form and every field alike, the password too: where it is kept and what it
 * is sealed with are made of all of these, and nothing of them is stored. Whoever differs in one finds nothing, and his form is
 * carried out like any other. It is given again for some minutes, and only while the session that it opened lives.
 */
import { fail } from '../../kernel/fail.ts';
import { deriveKey, digest, openWith, sealWith } from '../../kernel/secrets.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { findCustomerByEmail } from '../../store/customers.ts';
import { deleteStoredResponse, findStoredResponse, storeResponse } from '../../store/idempotency.ts';
import type { Service } from '../context.ts';
import { parseEmail } from '../customers/email.ts';
import { findLink } from '../customers/mail-links.ts';
import { identify } from './identify.ts';
import type { SaveSignInResponse } from './open.ts';

export interface VisitorForm {
  /** The part of the cookie that stays when somebody signs in. */
  readonly visitor: string;
  /** Of the form as it was shown; empty: no second click is recognised. */
  readonly key: string;
  readonly path: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Who is let in: whoever has this address, or was mailed this link. */
  readonly target: { readonly email: string } | { readonly resetToken: string };
  readonly requestId: string;
}

/** What a visitor is answered with when he is let in. */
export interface SignInResponse {
  readonly cookie: string;
  /** Null: he has none that is new. */
  readonly recoveryCode: string | null;
}

const RETENTION_MS = 10 * MINUTE_MS;
/** Looked up where nobody is named, so that this takes no less work. */
const NO_CUSTOMER_ID = '00000000-0000-0000-0000-000000000000';

class ResponseAlreadyStored extends Error {}

const inFlight = new Map<string, Promise<unknown>>();

/**
 * Carries `first` out once: a second click gets what the first one got, also while that is under way. `first` keeps its answer by
 * `keepLetIn`; `again` makes of it what `first` made.
 */
export async function runOnceForVisitor<Result>(
  service: Service,
  form: VisitorForm,
  {
    first,
    again,
  }: { readonly first: () => Promise<Result>; readonly again: (letIn: SignInResponse) => Result },
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
  {
    first,
    again,
  }: { readonly first: () => Promise<Result>; readonly again: (letIn: SignInResponse) => Result },
): Promise<Result> {
  const earlier = await findSignInResponse(service, form);
  if (earlier) return again(earlier);
  try {
    return await first();
  } catch (error) {
    // The refusal may be the shadow of the other click's success, in another process: its address is taken by itself, say.
    const concurrent = await findSignInResponse(service, form);
    if (concurrent) return again(concurrent);
    if (error instanceof ResponseAlreadyStored) fail('idempotency_conflict');
    throw error;
  }
}

/** Keeps the answer, in the transaction that opens the session. Of two clicks at once the one that comes second is rolled back. */
export function signInResponseSaver(service: Service, form: VisitorForm): SaveSignInResponse | undefined {
  if (form.key === '') return undefined;
  return async (tx, { customerId, cookie, recoveryCode }) => {
    const now = service.clock.now();
    const place = storageKey(form);
    const letIn: SignInResponse = { cookie, recoveryCode };
    const kept = await storeResponse(tx, {
      ...{ customerId, keyDigest: place, retainedSince: retentionCutoff(now), now, status: 200 },
      fingerprint: `visitor.${place.toString('base64url')}`,
      answer: sealWith(sealingKey(form), JSON.stringify(letIn)),
      request_id: form.requestId,
    });
    if (!kept) throw new ResponseAlreadyStored();
  };
}

async function findSignInResponse(service: Service, form: VisitorForm): Promise<SignInResponse | undefined> {
  const lookupKey = {
    customerId: (await findTargetCustomer(service, form)) ?? NO_CUSTOMER_ID,
    keyDigest: storageKey(form),
  };
  const kept = await findStoredResponse(service.db, {
    ...lookupKey,
    retainedSince: retentionCutoff(service.clock.now()),
  });
  if (!kept) return undefined;
  const letIn = JSON.parse(openWith(sealingKey(form), kept.answer).toString('utf8')) as SignInResponse;
  if ((await identify(service, letIn.cookie)).session) return letIn;
  // That session has ended: the form is carried out anew and keeps its answer in this place.
  await deleteStoredResponse(service.db, { ...lookupKey, requestId: kept.request_id });
  return undefined;
}

async function findTargetCustomer(service: Service, { target }: VisitorForm): Promise<string | undefined> {
  if ('resetToken' in target) return (await findLink(service, 'reset', target.resetToken))?.customer_id;
  return (await findCustomerByEmail(service.db, parseEmail(target.email)?.key ?? ''))?.id;
}

function storageKey(form: VisitorForm): Buffer {
  return digest(deriveKey(keyMaterial(form), 'place of an answer to a visitor').toString('base64'));
}

function sealingKey(form: VisitorForm): Buffer {
  return deriveKey(keyMaterial(form), 'answer to a visitor');
}

function keyMaterial({ visitor, key, path, fields }: VisitorForm): Buffer {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.from(JSON.stringify([visitor, key, path, sorted]));
}

function retentionCutoff(now: Date): Date {
  return new Date(now.getTime() - RETENTION_MS);
}
