/**
 * Forms of visitors who are not signed in. A second click gets the result of the first. Forms that sign a
 * visitor in set a new cookie.
 */

import { createHash } from 'node:crypto';
import type { RecoverableSession } from '../../../domain/customers/recovery.ts';
import type { OpenedSession, Visit } from '../../../domain/sessions/open.ts';
import {
  runOnceForVisitor,
  type SignInResponse,
  signInResponseSaver,
  type VisitorForm,
} from '../../../domain/sessions/visitor-idempotency.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { PANEL_FIELDS } from '../../../spec/paths.ts';
import type { Call } from '../../admission/forms.ts';
import { rememberDevice } from '../../cookie.ts';
import { type Form, field } from '../../form.ts';
import type { CustomForm, FormResult } from '../page-types.ts';

interface SessionFormRow extends Pick<CustomForm, 'audit' | 'limitedBy' | 'guess'> {
  readonly identifyAccount: (form: Form) => VisitorForm['target'];
  readonly openSession: (call: Call, visit: Visit) => Promise<OpenedSession | RecoverableSession>;
  readonly done: (letIn: SignInResponse, call: Call) => FormResult;
}

export function sessionForm({ identifyAccount, openSession, done, ...row }: SessionFormRow): CustomForm {
  const formResult = async (call: Call, session: SignInResponse): Promise<FormResult> => {
    await rememberDevice(call, session.cookie);
    return { ...done(session, call), cookie: session.cookie };
  };
  return {
    ...row,
    skipIdempotency: true,
    around: async (call, next) =>
      await runOnceForVisitor(call.edge.service, visitorForm(call, identifyAccount), {
        first: next,
        again: (letIn) => formResult(call, letIn),
      }),
    run: async (call) => {
      const saveResponse = signInResponseSaver(call.edge.service, visitorForm(call, identifyAccount));
      const opened = await openSession(call, { ...call.visit, saveResponse });
      const recoveryCode = 'recoveryCode' in opened ? opened.recoveryCode : null;
      return await formResult(call, { cookie: opened.cookie, recoveryCode });
    },
  };
}

function visitorForm(
  { form, request, visit }: Call,
  identifyAccount: SessionFormRow['identifyAccount'],
): VisitorForm {
  const { csrf, idempotencyKey } = PANEL_FIELDS;
  return {
    visitor: visit.visitor,
    key: field(form, idempotencyKey),
    path: request.routeOptions.url ?? '',
    fields: new Map([...form].filter(([name]) => name !== csrf && name !== idempotencyKey)),
    target: identifyAccount(form),
    requestId: visit.actor.requestId,
  };
}

const DEDUPLICATION_MS = MINUTE_MS;
const RESULTS_MAX = 1_000;

interface RecentResult {
  readonly atMs: number;
  readonly done: Promise<FormResult>;
}

/** By visitor and form, oldest first. */
const recentResults = new Map<string, RecentResult>();

/**
 * For the `around` of a form that sends a mail: keeps the first result for a minute, in this process only.
 * That avoids a second mail; actions that must never run twice are protected in the database. Failures are
 * not kept.
 */
export const deduplicateForAMinute: NonNullable<CustomForm['around']> = async (call, next) => {
  if (field(call.form, PANEL_FIELDS.idempotencyKey) === '') return await next();
  const now = performance.now();
  for (const [place, { atMs }] of recentResults) {
    if (now - atMs <= DEDUPLICATION_MS && recentResults.size < RESULTS_MAX) break;
    recentResults.delete(place);
  }
  const key = requestKey(call);
  const previous = recentResults.get(key);
  if (previous) return await previous.done;
  const done = next();
  recentResults.set(key, { atMs: now, done });
  try {
    return await done;
  } catch (error) {
    recentResults.delete(key);
    throw error;
  }
};

function requestKey({ visit, request, form }: Call): string {
  const fields = [...form].sort(([a], [b]) => (a < b ? -1 : 1));
  const fingerprint = JSON.stringify([visit.visitor, request.routeOptions.url, fields]);
  return createHash('sha256').update(fingerprint).digest('base64');
}
