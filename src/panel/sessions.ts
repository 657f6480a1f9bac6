/** Where the account is signed in. */
import { LIMITS } from '../spec/limits.ts';
import { ACCOUNT_PATHS } from '../spec/paths.ts';
import { accountTabs, sessionTimeToRfc3339 } from './account-components.ts';
import { statusBadge, table, time } from './components.ts';
import { type FormContext, form } from './form.ts';
import { html } from './html.ts';
import type { View } from './layout.ts';

interface SessionRow {
  readonly id: string;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly current: boolean;
}

export function sessionsView(data: {
  readonly sessions: readonly SessionRow[];
  readonly forms: FormContext;
}): View {
  const { sessions, forms } = data;
  const rows = sessions.map((session) => [
    html`${time(sessionTimeToRfc3339(session.created_at))}`,
    session.current ? statusBadge('this one', 'good') : time(sessionTimeToRfc3339(session.last_seen_at)),
    form(
      forms,
      { name: 'end', key: session.id, class: 'inline' },
      html`<button class="quiet" aria-label="End the session ${session.id}">End</button>`,
    ),
    html`<code>${session.id}</code>`,
  ]);
  const others = sessions.some((session) => !session.current);
  return {
    title: 'Sessions',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    body: html`${accountTabs(ACCOUNT_PATHS.sessions)}
<p>Each sign-in opens one. It ends ${LIMITS.sessionIdleHours} hours after it was last used, ${LIMITS.sessionMaxDays} days after it was opened, or here.
No addresses are kept: the <a href="${ACCOUNT_PATHS.audit}">audit log</a> says from which country it was opened.</p>
<div class="ids">${table({
      caption: 'Sessions of your account',
      columns: ['Opened', 'Last used', { name: 'End it', class: 'actions' }, 'Id'],
      rows,
    })}</div>
${others && form(forms, { name: 'end_others' }, html`<button>End all others</button>`)}`,
  };
}
