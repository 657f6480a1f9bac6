/** Servers as staff see them. */
import { buttonLink, detailList, section, statusBadge, table, time } from '../parts/components.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { customerLink } from './customers.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { actForm, filterChoice, filterField, filterForm, nothingFound, reasonField } from './parts.ts';

export interface StaffServer {
  readonly id: string;
  readonly customer: string;
  readonly name: string;
  readonly status: string;
  readonly suspended_reason: string | null;
  readonly plan: string;
  readonly region: string;
  readonly host: string | null;
  readonly ipv4: string | null;
  readonly ipv6: string | null;
  readonly price_usd: number;
  readonly billing_months: number;
  readonly auto_renew: boolean;
  readonly paid_until: string;
  readonly created_at: string;
  readonly frozen_at: string | null;
  readonly freeze_reason: string | null;
  readonly hold_order: string | null;
  readonly throttled: boolean;
  readonly mail_allowed: boolean;
  readonly operation: {
    readonly kind: string;
    readonly step: string | null;
    readonly started_at: string | null;
    readonly attempts: number | null;
    readonly last_fault: string | null;
  } | null;
}

export function serverPath(id: string): string {
  return `${CONSOLE_PATHS.servers}/${encodeURIComponent(id)}`;
}

const TONES: Readonly<Record<string, 'good' | 'busy' | 'bad'>> = {
  running: 'good',
  provisioning: 'busy',
  rebuilding: 'busy',
  suspended: 'bad',
  error: 'bad',
};

function stateOf({ status, frozen_at, hold_order }: StaffServer): Html {
  return html`${statusBadge(status, TONES[status] ?? 'off')}
${frozen_at && statusBadge('frozen', 'bad')} ${hold_order && statusBadge('legal hold', 'busy')}`;
}

export function serversView(data: {
  readonly filter: {
    readonly customer: string;
    readonly status: string;
    readonly region: string;
    readonly host: string;
  };
  readonly statuses: readonly string[];
  readonly servers: readonly StaffServer[];
  /** The path of the next page; null on the last one. */
  readonly next: string | null;
}): ConsoleView {
  const { filter } = data;
  const rows = data.servers.map((row) => [
    html`<a href="${serverPath(row.id)}">${row.name}</a>`,
    stateOf(row),
    customerLink(row.customer),
    row.plan,
    row.region,
    row.host ?? '–',
    row.ipv4 ?? '–',
    time(row.paid_until),
  ]);
  return {
    title: 'Servers',
    section: 'servers',
    body: html`${filterForm(
      CONSOLE_PATHS.servers,
      html`${filterField('customer', 'Customer', filter.customer)}${filterChoice(
        'status',
        'Status',
        filter.status,
        data.statuses,
      )}${filterField('region', 'Region', filter.region)}${filterField('host', 'Host', filter.host)}`,
    )}
${
  rows.length === 0
    ? nothingFound('servers')
    : table({
        caption: 'Servers, newest first',
        columns: ['Server', 'Status', 'Customer', 'Plan', 'Region', 'Host', 'IPv4', 'Paid until'],
        rows,
      })
}
${data.next && html`<p>${buttonLink('Older servers', data.next, 'plain')}</p>`}`,
  };
}

export function serverView(data: {
  readonly forms: FormContext;
  readonly server: StaffServer;
  readonly may: { readonly freeze: boolean; readonly hold: boolean; readonly setMail: boolean };
}): ConsoleView {
  const { server } = data;
  const id = encodeURIComponent(server.id);
  return {
    title: server.name,
    section: 'servers',
    breadcrumbs: [['Servers', CONSOLE_PATHS.servers]],
    status: stateOf(server),
    facts: [
      server.plan,
      server.region,
      server.host,
      server.billing_months === 1
        ? `${usd(server.price_usd)}/mo`
        : `${usd(server.price_usd)} for ${server.billing_months} months`,
    ],
    body: html`<p class="page-actions">
${buttonLink('Audit log', `${CONSOLE_PATHS.audit}?resource=${id}`, 'plain')}
${buttonLink('Staff log', `${CONSOLE_PATHS.log}?target=${id}`, 'plain')}</p>
${operationNote(server)}
${detailList([
  ['ID', html`<code class="copy" data-copy>${server.id}</code>`],
  ['Customer', customerLink(server.customer)],
  ['IPv4', server.ipv4 && html`<code class="copy" data-copy>${server.ipv4}</code>`],
  ['IPv6', server.ipv6 && html`<code class="copy" data-copy>${server.ipv6}</code>`],
  ['Suspended because of', server.suspended_reason],
  [
    'Paid until',
    html`${time(server.paid_until)}, ${server.auto_renew ? 'renews automatically' : 'does not renew'}`,
  ],
  ['Created', time(server.created_at)],
  ['Frozen', server.frozen_at && html`since ${time(server.frozen_at)}: ${server.freeze_reason}`],
  ['Legal hold', server.hold_order],
  ['Transfer', server.throttled && 'throttled until the month ends'],
  ['Outbound SMTP', server.mail_allowed ? 'allowed' : 'blocked'],
])}
${acts(data)}`,
  };
}

function operationNote({ operation }: StaffServer): Html | null {
  if (operation === null) return null;
  const tries = operation.attempts ? `, ${operation.attempts} attempts failed` : '';
  return html`<p class="banner warn">${operation.kind} in progress at step ${operation.step}${tries}${
    operation.last_fault && `: ${operation.last_fault}`
  }</p>`;
}

function acts({ forms, server, may }: Parameters<typeof serverView>[0]): Html | null {
  const freeze = new Fields(forms, 'freeze');
  const hold = new Fields(forms, 'hold');
  const shown = [
    may.freeze &&
      actForm(
        forms,
        { name: 'freeze', title: 'Freeze the server', button: 'Freeze server', danger: true },
        html`<p>Powers the server off. Its customer can only view and delete it.</p>
${freeze.text('message', 'Message to the customer', { required: true, maxLength: 200 })}
${reasonField(freeze)}`,
      ),
    may.hold &&
      actForm(
        forms,
        { name: 'hold', title: 'Place a legal hold', button: 'Place hold', danger: true },
        html`<p>Preserves the server and its disk. It keeps running and cannot be deleted or overwritten.</p>
${hold.text('order', 'Legal order', {
  required: true,
  maxLength: 200,
  hint: 'Shown to everyone whom it blocks.',
})}
${reasonField(hold)}`,
      ),
    may.freeze &&
      server.frozen_at !== null &&
      actForm(
        forms,
        { name: 'release', title: 'Lift the freeze', button: 'Lift freeze' },
        reasonField(new Fields(forms, 'release')),
      ),
    may.hold &&
      server.hold_order !== null &&
      actForm(
        forms,
        { name: 'release_hold', title: 'Lift the legal hold', button: 'Lift hold' },
        reasonField(new Fields(forms, 'release_hold')),
      ),
    may.setMail && mailForm(forms, server),
  ];
  return shown.some(Boolean) ? section('Actions', shown) : null;
}

function mailForm(forms: FormContext, { mail_allowed: isAllowed }: StaffServer): Html {
  const title = isAllowed ? 'Block outbound SMTP' : 'Allow outbound SMTP';
  return actForm(
    forms,
    { name: 'mail', title, button: isAllowed ? 'Block' : 'Allow' },
    html`<input type="hidden" name="allowed" value="${isAllowed ? 'no' : 'yes'}">
${reasonField(new Fields(forms, 'mail'))}`,
  );
}
