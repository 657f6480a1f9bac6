/** API tokens: the list, a form for another one, and its text, once. */
import { LIMITS } from '../spec/limits.ts';
import { ACCOUNT_PATHS } from '../spec/paths.ts';
import type { ApiToken } from '../spec/schemas/api-token.ts';
import { SCOPES, type Scope } from '../spec/scopes.ts';
import { accountTabs, passwordField } from './account-components.ts';
import { copyable, day, emptyState, pager, section, table, time } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';

const SCOPE_DESCRIPTIONS: Record<Scope, string> = {
  read: 'Looks at servers and everything around them; changes nothing and sees nothing of money.',
  write:
    'Also deploys, changes and destroys servers, paid from the balance, and makes tokens; sees nothing of money.',
  billing: 'Also sees the balance, its movements and its top-ups, and makes top-ups.',
};

export function tokensView(data: {
  readonly tokens: readonly ApiToken[];
  readonly next: string | null;
  readonly first: string | null;
  readonly forms: FormContext;
  /** The text of the one that was just made. */
  readonly createdToken: string | null;
}): View {
  const { tokens, forms, createdToken } = data;
  return {
    title: 'API tokens',
    section: 'account',
    breadcrumbs: [['Account', ACCOUNT_PATHS.overview]],
    body: html`${accountTabs(ACCOUNT_PATHS.tokens)}
${
  createdToken &&
  html`<div class="once"><p><strong>Your token</strong></p>
<p>${copyable(createdToken)}</p>
<p>Keep it like a password. It is not shown again.</p></div>\n`
}${
  tokens.length > 0
    ? tokensTable(tokens, forms)
    : emptyState('No tokens yet.', 'Programs sign in with one, over the REST interface. Make one below.')
}
${pager(data)}
${section('Make a token', createForm(forms), 'make')}`,
  };
}

function tokensTable(tokens: readonly ApiToken[], forms: FormContext): Html {
  return table({
    caption: 'API tokens',
    columns: ['Name', 'Scope', 'Last used', 'Expires', 'Made', { name: '', class: 'actions' }],
    rows: tokens.map((token) => [
      token.name,
      token.scope,
      token.last_used_at === null ? 'never' : time(token.last_used_at),
      token.expires_at === null ? 'never' : time(token.expires_at),
      day(token.created_at),
      form(
        forms,
        { name: 'revoke', key: token.id, class: 'inline' },
        html`<button class="quiet" aria-label="Revoke ${token.name}">Revoke</button>`,
      ),
    ]),
  });
}

function createForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'create');
  const scopes = SCOPES.map((scope) =>
    fields.radio('scope', scope, html`<strong>${scope}</strong><br>${SCOPE_DESCRIPTIONS[scope]}`, {
      checked: scope === 'read',
    }),
  );
  return form(
    forms,
    { name: 'create' },
    html`${fields.text('name', 'Name', {
      required: true,
      maxLength: LIMITS.nameMaxChars,
      autocomplete: 'off',
      hint: 'Where it is used: you find it again by that.',
    })}
<fieldset${fields.describedBy('scope')}><legend>What it may do</legend>
<div class="choices">${scopes}</div>
${fields.notes('scope')}</fieldset>
${fields.text('expires_at', 'Ends at, in UTC', {
  type: 'datetime-local',
  hint: 'Left empty, it ends when it is revoked.',
})}
${passwordField(fields)}
<button>Make the token</button>`,
  );
}
