/** Staff, and the API tokens of the person who is signed in. */
import { buttonLink, detailList, section, statusBadge, table, time } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { actForm } from './parts.ts';

export interface StaffItem {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly status: 'invited' | 'active' | 'disabled';
  readonly created_at: string;
  readonly joined_at: string | null;
}

type Choice = readonly [value: string, name: string];

export interface StaffPageData {
  readonly forms: FormContext;
  readonly people: readonly StaffItem[];
  /** The path of the next page; null on the last one. */
  readonly next: string | null;
  readonly roles: readonly Choice[];
  readonly mayManage: boolean;
  /** The link of an invitation, shown once. */
  readonly invitation: string | null;
}

const TONES = { invited: 'busy', active: 'good', disabled: 'off' } as const;

export function staffView(data: StaffPageData): ConsoleView {
  const names = new Map(data.roles);
  const rows = data.people.map((row) => [
    html`<a href="${personPath(row.id)}">${row.name}</a>`,
    row.email,
    names.get(row.role) ?? row.role,
    statusBadge(row.status, TONES[row.status]),
    time(row.created_at),
  ]);
  return {
    title: 'Staff',
    section: 'staff',
    body: html`${data.invitation && invitationNote(data.invitation)}
${table({
  caption: 'People who run this service, newest first',
  columns: ['Name', 'Email', 'Role', 'State', 'Since'],
  rows,
})}
${data.next && html`<p>${buttonLink('More people', data.next, 'plain')}</p>`}
${data.mayManage && section('Invite a person', inviteForm(data))}`,
  };
}

function invitationNote(link: string): Html {
  return html`<div class="once" role="status"><p>Send this link to the person over a channel that you trust.
It works once, within 48 hours, and is shown only here:</p>
<p><code class="copy" data-copy>${link}</code></p></div>`;
}

export function personPath(id: string): string {
  return `${CONSOLE_PATHS.staff}/${encodeURIComponent(id)}`;
}

export function personView(data: {
  readonly forms: FormContext;
  readonly person: StaffItem;
  readonly roles: readonly Choice[];
  readonly mayManage: boolean;
}): ConsoleView {
  const { forms, person, roles } = data;
  const fields = new Fields(forms, 'role');
  return {
    title: person.name,
    section: 'staff',
    breadcrumbs: [['Staff', CONSOLE_PATHS.staff]],
    status: statusBadge(person.status, TONES[person.status]),
    facts: [person.email, new Map(roles).get(person.role)],
    body: html`<p class="page-actions">${buttonLink(
      'Staff log',
      `${CONSOLE_PATHS.log}?staff=${encodeURIComponent(person.id)}`,
      'plain',
    )}</p>
${detailList([
  ['ID', html`<code class="copy" data-copy>${person.id}</code>`],
  ['Invited', time(person.created_at)],
  ['Joined', person.joined_at && time(person.joined_at)],
])}
${
  data.mayManage &&
  person.status !== 'disabled' &&
  section(
    'Actions',
    html`${actForm(
      forms,
      { name: 'role', title: 'Change the role', button: 'Change role' },
      html`<p>The person signs in again.</p>
${fields.select('role', 'Role', { value: person.role, choices: roles })}`,
    )}
${actForm(
  forms,
  { name: 'end_sessions', title: 'End the sessions and API tokens', button: 'End sessions' },
  html`<p>API tokens stop working, too. The person can sign in again.</p>`,
)}
${actForm(
  forms,
  { name: 'disable', title: 'End the access', button: 'End access', danger: true },
  html`<p>Sessions and API tokens stop working at once. To give access again, invite the same address.</p>`,
)}`,
  )
}`,
  };
}

function inviteForm({ forms, roles }: StaffPageData): Html {
  const fields = new Fields(forms, 'invite');
  return form(
    forms,
    { name: 'invite' },
    html`${fields.text('email', 'Email', { type: 'email', required: true, autocomplete: 'off' })}
${fields.text('name', 'Name', { required: true, maxLength: 80, autocomplete: 'off' })}
${fields.select('role', 'Role', { value: 'support', choices: roles })}
<p class="hint">To reset the password and authenticator of a person, invite the same email address again.</p>
<button>Create invitation</button>`,
  );
}

export interface StaffTokenItem {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly last_used_at: string | null;
}

export function staffTokensView(data: {
  readonly forms: FormContext;
  readonly tokens: readonly StaffTokenItem[];
  readonly roles: readonly Choice[];
  readonly role: string;
  /** Shown once. */
  readonly token: string | null;
}): ConsoleView {
  const { forms } = data;
  const fields = new Fields(forms, 'create');
  const names = new Map(data.roles);
  const rows = data.tokens.map((row) => [
    row.name,
    names.get(row.role) ?? row.role,
    time(row.created_at),
    time(row.expires_at),
    time(row.last_used_at),
    form(forms, { name: 'revoke', key: row.id }, html`<button class="quiet">Revoke</button>`),
  ]);
  return {
    title: 'API tokens',
    section: 'tokens',
    body: html`<p>Programs use a token with the endpoints under <code>/admin/v1</code>. Their
description is at <a href="/admin/v1/openapi.json">/admin/v1/openapi.json</a>.</p>
${
  data.token &&
  html`<div class="once" role="status"><p>Copy the token now. It is shown only here:</p>
<p><code class="copy" data-copy>${data.token}</code></p></div>`
}
${
  rows.length > 0 &&
  table({
    caption: 'Your API tokens, newest first',
    columns: ['Name', 'Role', 'Created', 'Expires', 'Last used', { name: 'Actions', class: 'actions' }],
    rows,
  })
}
${section(
  'Create a token',
  form(
    forms,
    { name: 'create' },
    html`${fields.text('name', 'Name', { required: true, maxLength: 80 })}
${fields.select('role', 'Role', { value: data.role, choices: data.roles })}
${fields.text('expires_at', 'Expires', { type: 'date', hint: 'At 00:00 UTC. Empty: in a year.' })}
${fields.text('code', 'One-time code', {
  required: true,
  autocomplete: 'one-time-code',
  inputmode: 'numeric',
  size: 12,
})}
<button>Create token</button>`,
  ),
)}`,
  };
}
