/** Forms that let somebody in: he gets another cookie, and a second click gets what the first one got. */
import type { SignedUp } from '../../domain/customers/sign-up.ts';
import {
  keepLetIn,
  type LetIn,
  onceForVisitor,
  type VisitorForm,
} from '../../domain/sessions/once-for-visitor.ts';
import type { Opened, Visit } from '../../domain/sessions/open.ts';
import { PANEL_FIELDS } from '../../spec/paths.ts';
import type { Call } from '../endpoint.ts';
import { type Form, field } from '../form.ts';
import type { Done, OwnForm } from './page.ts';

interface LetInRow extends Pick<OwnForm, 'audit' | 'counted'> {
  readonly whom: (form: Form) => VisitorForm['whom'];
  readonly enter: (call: Call, visit: Visit) => Promise<Opened | SignedUp>;
  readonly done: (letIn: LetIn, call: Call) => Done;
}

export function letInForm({ whom, enter, done, ...row }: LetInRow): OwnForm {
  const answer = (call: Call, letIn: LetIn): Done => ({ ...done(letIn, call), cookie: letIn.cookie });
  return {
    ...row,
    unkeyed: true,
    around: async (call, go) =>
      await onceForVisitor(call.edge.service, visitorForm(call, whom), {
        first: go,
        again: (letIn) => answer(call, letIn),
      }),
    run: async (call) => {
      const keep = keepLetIn(call.edge.service, visitorForm(call, whom));
      const opened = await enter(call, { ...call.visit, keep });
      const recoveryCode = 'recoveryCode' in opened ? opened.recoveryCode : null;
      return answer(call, { cookie: opened.cookie, recoveryCode });
    },
  };
}

function visitorForm({ form, request, visit }: Call, whom: LetInRow['whom']): VisitorForm {
  const { csrf, once } = PANEL_FIELDS;
  return {
    visitor: visit.visitor,
    key: field(form, once),
    path: request.routeOptions.url ?? '',
    fields: new Map([...form].filter(([name]) => name !== csrf && name !== once)),
    whom: whom(form),
    requestId: visit.actor.requestId,
  };
}
