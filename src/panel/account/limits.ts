/** The limits of the account. */
import { SHOWN_QUOTAS } from '../../spec/limits.ts';
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import type { Limit } from '../../spec/schemas/account.ts';
import { statusBadge, table } from '../parts/components.ts';
import { formatNumber } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { accountTabs } from './components.ts';

const TITLES = new Map<string, string>(SHOWN_QUOTAS.map(({ name, title }) => [name, title]));

export function limitsView(limits: readonly Limit[]): View {
  const rows = limits.map(({ name, limit, used }) => [
    TITLES.get(name) ?? name,
    html`${used === null ? '–' : formatNumber(used)}${used !== null && used >= limit && atLimit()}`,
    formatNumber(limit),
  ]);
  return {
    title: 'Limits',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    body: html`${accountTabs(ACCOUNT_PATHS.limits)}
<p>Your account and your servers have these limits. To create more, delete something that you no longer need,
or contact us.</p>
${table({
  caption: 'Limits',
  columns: ['Limit', { name: 'Used', class: 'number' }, { name: 'Maximum', class: 'number' }],
  rows,
})}`,
  };
}

function atLimit(): Html {
  return html` ${statusBadge('reached', 'bad')}`;
}
