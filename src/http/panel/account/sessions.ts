/** The account's open sessions. */
import { endOtherSessions, endSession, listSessions } from '../../../domain/sessions/active.ts';
import { sessionsView } from '../../../panel/account/sessions.ts';
import { ACCOUNT_PATHS, PANEL_FIELDS, PANEL_PATHS } from '../../../spec/paths.ts';
import { field } from '../../form.ts';
import type { CustomForm, PanelPage } from '../page-types.ts';

const SESSIONS_PATH = ACCOUNT_PATHS.sessions;

const endSessionForm: CustomForm = {
  audit: 'customer.end_session',
  run: async ({ edge, form, customer, visit }) => {
    const own = await endSession(edge.service, customer(), field(form, PANEL_FIELDS.key));
    if (own) return { to: PANEL_PATHS.home, notice: 'signed_out', cookie: visit.visitor };
    return { to: SESSIONS_PATH, notice: 'session_ended' };
  },
};

const endOtherSessionsForm: CustomForm = {
  audit: 'customer.end_session',
  run: async ({ edge, customer }) => {
    await endOtherSessions(edge.service, customer());
    return { to: SESSIONS_PATH, notice: 'sessions_ended' };
  },
};

export const SESSIONS_PAGE: PanelPage = {
  path: SESSIONS_PATH,
  access: 'customer',
  render: async (context) =>
    sessionsView({ sessions: await listSessions(context.service, context.customer()), forms: context.forms }),
  forms: { end: endSessionForm, end_others: endOtherSessionsForm },
};
