/** Where the account is signed in. */
import { endOtherSessions, endSession } from '../../domain/sessions/end.ts';
import { listSessions } from '../../domain/sessions/list.ts';
import { sessionsView } from '../../panel/sessions.ts';
import { ACCOUNT_PATHS, PANEL_FIELDS, PANEL_PATHS } from '../../spec/paths.ts';
import { field } from '../form.ts';
import type { OwnForm, PanelPage } from './page.ts';

const HERE = ACCOUNT_PATHS.sessions;

const end: OwnForm = {
  audit: 'customer.end_session',
  run: async ({ edge, form, customer, visit }) => {
    const own = await endSession(edge.service, customer(), field(form, PANEL_FIELDS.key));
    if (own) return { to: PANEL_PATHS.home, notice: 'signed_out', cookie: visit.visitor };
    return { to: HERE, notice: 'session_ended' };
  },
};

const endOthers: OwnForm = {
  audit: 'customer.end_session',
  run: async ({ edge, customer }) => {
    await endOtherSessions(edge.service, customer());
    return { to: HERE, notice: 'sessions_ended' };
  },
};

export const SESSIONS_PAGE: PanelPage = {
  path: HERE,
  access: 'customer',
  show: async (look) =>
    sessionsView({ sessions: await listSessions(look.service, look.customer()), forms: look.forms }),
  forms: { end, end_others: endOthers },
};
