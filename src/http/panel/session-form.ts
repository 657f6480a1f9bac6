/** Forms that sign a visitor in: they set a new cookie, and a second click gets the result of the first. */
import type { RecoverableSession } from '../../domain/customers/recovery.ts';
import type { OpenedSession, Visit } from '../../domain/sessions/open.ts';
import {
  runOnceForVisitor,
  type SignInResponse,
  signInResponseSaver,
  type VisitorForm,
} from '../../domain/sessions/visitor-idempotency.ts';
import { PANEL_FIELDS } from '../../spec/paths.ts';
import type { Call } from '../admission/forms.ts';
import { type Form, field } from '../form.ts';
import type { CustomForm, FormResult } from './page-types.ts';

interface SessionFormRow extends Pick<CustomForm, 'audit' | 'limitedBy'> {
  readonly identifyAccount: (form: Form) => VisitorForm['target'];
  readonly openSession: (call: Call, visit: Visit) => Promise<OpenedSession | RecoverableSession>;
  readonly done: (letIn: SignInResponse, call: Call) => FormResult;
}

export function sessionForm({ identifyAccount, openSession, done, ...row }: SessionFormRow): CustomForm {
  const formResult = (call: Call, session: SignInResponse): FormResult => ({
    ...done(session, call),
    cookie: session.cookie,
  });
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
      return formResult(call, { cookie: opened.cookie, recoveryCode });
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
