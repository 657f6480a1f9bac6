/** The account's open sessions. */
import { LIMITS } from '../../spec/limits.ts';
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import { statusBadge, table, time } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { accountTabs, sessionTimeToRfc3339 } from './components.ts';

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
    session.current ? statusBadge('current', 'good') : time(sessionTimeToRfc3339(session.last_seen_at)),
    html`<code>${session.id}</code>`,
    form(
      forms,
      { name: 'end', key: session.id, class: 'inline' },
      html`<button class="quiet" aria-label="End session ${session.id}">End</button>`,
    ),
  ]);
  const others = sessions.some((session) => !session.current);
  return {
    title: 'Sessions',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    body: html`${accountTabs(ACCOUNT_PATHS.sessions)}
<p>A session starts each time you sign in. It ends after ${LIMITS.sessionIdleHours} hours without use, after
${LIMITS.sessionMaxDays} days, or when you end it here. We don’t store IP addresses; the
<a href="${ACCOUNT_PATHS.audit}">audit log</a> shows the country of each sign-in.</p>
<div class="ids">${table({
      caption: 'Sessions',
      columns: ['Signed in', 'Last used', 'ID', { name: 'Actions', class: 'actions' }],
      rows,
    })}</div>
${others && form(forms, { name: 'end_others' }, html`<button>End all other sessions</button>`)}`,
  };
}
