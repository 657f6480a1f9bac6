/** API tokens: the list, the form to create one, and its secret, shown once. */
import { LIMITS } from '../../spec/limits.ts';
import type { Operation } from '../../spec/operations.ts';
import { ACCOUNT_PATHS } from '../../spec/paths.ts';
import type { ApiToken } from '../../spec/schemas/api-token.ts';
import { SCOPES, type Scope } from '../../spec/scopes.ts';
import { copyable, day, emptyState, pager, section, table, time } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { accountTabs, ownerFields } from './components.ts';
import { limitFields } from './token-limits.ts';

const SCOPE_DESCRIPTIONS: Record<Scope, string> = {
  read: 'Views servers and their resources. Makes no changes and sees no billing data.',
  write: 'Everything read does. Also deploys, changes, and deletes servers at your cost, and creates tokens.',
  billing: 'Everything write does. Also views the balance, the ledger, and top-ups, and creates top-ups.',
};

/** Operations that each scope adds to those of the scope before it. */
export const SCOPE_EXAMPLES = {
  read: ['servers.list', 'servers.metrics', 'audit_events.list'],
  write: ['servers.create', 'servers.reboot', 'firewall_rules.replace'],
  billing: ['balance.get', 'ledger.list', 'topups.create'],
} as const satisfies Record<Scope, readonly Operation[]>;

export function tokensView(data: {
  readonly tokens: readonly ApiToken[];
  readonly next: string | null;
  readonly first: string | null;
  readonly forms: FormContext;
  /** The secret of the token that was just created. */
  readonly createdToken: string | null;
  readonly hasPasskeys: boolean;
}): View {
  const { tokens, forms, createdToken, hasPasskeys } = data;
  return {
    title: 'API tokens',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    scripts: hasPasskeys ? ['passkeys'] : [],
    body: html`${accountTabs(ACCOUNT_PATHS.tokens)}
${
  createdToken &&
  html`<div class="once"><p><strong>Your token</strong></p>
<p>${copyable(createdToken)}</p>
<p>Store it like a password. We show it only once.</p></div>\n`
}${
  tokens.length > 0
    ? tokensTable(tokens, forms)
    : emptyState('No API tokens yet.', 'Programs use a token to access the API. Create one below.')
}
${
  tokens.some(({ created_by_token }) => created_by_token !== null) &&
  html`<p class="hint">Revoking a token also revokes the tokens that it created.</p>\n`
}
${pager(data)}
${section('Create API token', createForm(forms, hasPasskeys), 'make')}`,
  };
}

function tokensTable(tokens: readonly ApiToken[], forms: FormContext): Html {
  const label = labelsOf(tokens);
  return table({
    caption: 'API tokens',
    columns: ['Name', 'Scope', 'Last used', 'Expires', 'Created', { name: 'Actions', class: 'actions' }],
    rows: tokens.map((token) => [
      html`<a href="${ACCOUNT_PATHS.tokens}/${token.id}">${label(token)}</a>`,
      token.limits === null ? token.scope : `${token.scope}, limited`,
      token.last_used_at === null ? 'Never' : time(token.last_used_at),
      token.expires_at === null ? 'Never' : time(token.expires_at),
      day(token.created_at),
      form(
        forms,
        { name: 'revoke', key: token.id, class: 'inline' },
        html`<button class="quiet" aria-label="Revoke ${label(token)}">Revoke</button>`,
      ),
    ]),
  });
}

function scopeExamples(scope: Scope): Html {
  const names = SCOPE_EXAMPLES[scope].map((name, index) => html`${index > 0 && ', '}<code>${name}</code>`);
  return html`<br><small class="soft">For example ${names}</small>`;
}

function createForm(forms: FormContext, hasPasskeys: boolean): Html {
  const fields = new Fields(forms, 'create');
  const scopes = SCOPES.map((scope) => {
    const label = html`<strong>${scope}</strong><br>${SCOPE_DESCRIPTIONS[scope]}${scopeExamples(scope)}`;
    return fields.radio('scope', scope, label, { checked: scope === 'read' });
  });
  return form(
    forms,
    { name: 'create' },
    html`${fields.text('name', 'Name', {
      required: true,
      maxLength: LIMITS.nameMaxChars,
      autocomplete: 'off',
      hint: 'Where you use the token, such as ci or laptop.',
    })}
<fieldset${fields.describedBy('scope')}><legend>Scope</legend>
<div class="choices">${scopes}</div>
${fields.notes('scope')}</fieldset>
${fields.text('expires_at', 'Expires at (UTC, optional)', {
  type: 'datetime-local',
  hint: 'Leave empty for a token that never expires.',
})}
<details${forms.refused?.name === 'create' && new Html(' open')}><summary>Limits</summary>
<p>Empty fields do not limit the token. Tokens and API requests are free, so a spending limit counts only what
a server costs: its order, a resize, a cycle paid by powering it on, and backups.</p>
${limitFields(fields, null)}</details>
${ownerFields(fields, hasPasskeys)}
<button>Create token</button>`,
  );
}
