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
import { deleteKept, findKept, keepAnswer } from '../../store/idempotency.ts';
import type { Service } from '../context.ts';
import { parseEmail } from '../customers/email.ts';
import { lookAtLink } from '../customers/links.ts';
import { identify } from './identify.ts';
import type { KeepLetIn } from './open.ts';

export interface VisitorForm {
  /** The part of the cookie that stays when somebody signs in. */
  readonly visitor: string;
  /** Of the form as it was shown; empty: no second click is recognised. */
  readonly key: string;
  readonly path: string;
  readonly fields: ReadonlyMap<string, string>;
  /** Who is let in: whoever has this address, or was mailed this link. */
  readonly whom: { readonly email: string } | { readonly resetToken: string };
  readonly requestId: string;
}

/** What a visitor is answered with when he is let in. */
export interface LetIn {
  readonly cookie: string;
  /** Null: he has none that is new. */
  readonly recoveryCode: string | null;
}

const KEPT_MS = 10 * MINUTE_MS;
/** Looked up where nobody is named, so that this takes no less work. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

class AnswerTaken extends Error {}

const underWay = new Map<string, Promise<unknown>>();

/**
 * Carries `first` out once: a second click gets what the first one got, also while that is under way. `first` keeps its answer by
 * `keepLetIn`; `again` makes of it what `first` made.
 */
export async function onceForVisitor<Result>(
  service: Service,
  form: VisitorForm,
  { first, again }: { readonly first: () => Promise<Result>; readonly again: (letIn: LetIn) => Result },
): Promise<Result> {
  if (form.key === '') return await first();
  const place = placeOf(form).toString('base64url');
  const other = underWay.get(place) as Promise<Result> | undefined;
  if (other) return await other;
  const attempt = attemptOnce(service, form, { first, again });
  underWay.set(place, attempt);
  try {
    return await attempt;
  } finally {
    underWay.delete(place);
  }
}

async function attemptOnce<Result>(
  service: Service,
  form: VisitorForm,
  { first, again }: { readonly first: () => Promise<Result>; readonly again: (letIn: LetIn) => Result },
): Promise<Result> {
  const before = await findLetIn(service, form);
  if (before) return again(before);
  try {
    return await first();
  } catch (error) {
    // The refusal may be the shadow of the other click's success, in another process: its address is taken by itself, say.
    const meanwhile = await findLetIn(service, form);
    if (meanwhile) return again(meanwhile);
    if (error instanceof AnswerTaken) fail('idempotency_conflict');
    throw error;
  }
}

/** Keeps the answer, in the transaction that opens the session. Of two clicks at once the one that comes second is rolled back. */
export function keepLetIn(service: Service, form: VisitorForm): KeepLetIn | undefined {
  if (form.key === '') return undefined;
  return async (tx, { customerId, cookie, recoveryCode }) => {
    const now = service.clock.now();
    const place = placeOf(form);
    const letIn: LetIn = { cookie, recoveryCode };
    const kept = await keepAnswer(tx, {
      ...{ customerId, keyDigest: place, keptSince: keptSince(now), now, status: 200 },
      fingerprint: `visitor.${place.toString('base64url')}`,
      answer: sealWith(sealOf(form), JSON.stringify(letIn)),
      request_id: form.requestId,
    });
    if (!kept) throw new AnswerTaken();
  };
}

async function findLetIn(service: Service, form: VisitorForm): Promise<LetIn | undefined> {
  const place = { customerId: (await whomOf(service, form)) ?? NOBODY, keyDigest: placeOf(form) };
  const kept = await findKept(service.db, { ...place, keptSince: keptSince(service.clock.now()) });
  if (!kept) return undefined;
  const letIn = JSON.parse(openWith(sealOf(form), kept.answer).toString('utf8')) as LetIn;
  if ((await identify(service, letIn.cookie)).session) return letIn;
  // That session has ended: the form is carried out anew and keeps its answer in this place.
  await deleteKept(service.db, { ...place, requestId: kept.request_id });
  return undefined;
}

async function whomOf(service: Service, { whom }: VisitorForm): Promise<string | undefined> {
  if ('resetToken' in whom) return (await lookAtLink(service, 'reset', whom.resetToken))?.customer_id;
  return (await findCustomerByEmail(service.db, parseEmail(whom.email)?.key ?? ''))?.id;
}

function placeOf(form: VisitorForm): Buffer {
  return digest(deriveKey(materialOf(form), 'place of an answer to a visitor').toString('base64'));
}

function sealOf(form: VisitorForm): Buffer {
  return deriveKey(materialOf(form), 'answer to a visitor');
}

function materialOf({ visitor, key, path, fields }: VisitorForm): Buffer {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.from(JSON.stringify([visitor, key, path, sorted]));
}

function keptSince(now: Date): Date {
  return new Date(now.getTime() - KEPT_MS);
}
