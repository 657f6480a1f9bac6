/** The search page, and the keyboard shortcuts that `enhance.js` handles. */
import { ACCOUNT_PATHS, BILLING_PATHS, DEPLOY_PATH, DOCS_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { emptyState, section, table } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { namesAddress, QUERY_FIELD, searchForm } from '../parts/search-form.ts';

export interface FoundItem {
  /** Such as `Server`. */
  readonly kind: string;
  readonly path: string;
  readonly name: string;
  readonly detail: string;
}

/** Pages, with the other words that people look for. */
const PAGES: readonly (readonly [name: string, path: string, words: string])[] = [
  ['Deploy server', DEPLOY_PATH, 'order create new vps dedicated'],
  ['Servers', PANEL_PATHS.servers, 'vps machine'],
  ['Latest actions', PANEL_PATHS.actions, 'activity operations progress'],
  ['Volumes', PANEL_PATHS.volumes, 'disk storage'],
  ['Snapshots', PANEL_PATHS.snapshots, 'backup restore'],
  ['Firewall', PANEL_PATHS.firewall, 'rules ports security groups'],
  ['SSH keys', PANEL_PATHS.keys, 'public key'],
  ['Images', PANEL_PATHS.images, 'iso upload operating system'],
  ['Webhooks', PANEL_PATHS.webhooks, 'events notifications'],
  ['Alerts', PANEL_PATHS.alerts, 'monitoring thresholds'],
  ['Billing', PANEL_PATHS.billing, 'balance invoices charges'],
  ['Top up', PANEL_PATHS.topup, 'pay money bitcoin monero crypto balance'],
  ['Ledger', BILLING_PATHS.ledger, 'transactions charges refunds'],
  ['Statement', BILLING_PATHS.statement, 'month invoice'],
  ['Account', ACCOUNT_PATHS.overview, 'email password openpgp'],
  ['API tokens', ACCOUNT_PATHS.tokens, 'keys api scopes'],
  ['One-time codes', ACCOUNT_PATHS.totp, 'two-factor 2fa totp security'],
  ['Passkeys', ACCOUNT_PATHS.passkeys, 'security key webauthn'],
  ['Sessions', ACCOUNT_PATHS.sessions, 'sign out devices'],
  ['Limits', ACCOUNT_PATHS.limits, 'quotas'],
  ['Audit log', ACCOUNT_PATHS.audit, 'history security'],
  ['Delete account', ACCOUNT_PATHS.delete, 'close remove'],
  ['Announcements', PANEL_PATHS.announcements, 'news notices'],
  ['Plans', PANEL_PATHS.plans, 'prices'],
  ['Status', PANEL_PATHS.status, 'incidents maintenance uptime'],
];

const SHORTCUTS: readonly (readonly [keys: readonly string[], action: string])[] = [
  [['/'], 'Search'],
  [['Ctrl', 'K'], 'Search, even while you type in a form'],
  [['n'], 'Deploy a server'],
  [['g', 's'], 'Servers'],
  [['g', 'v'], 'Volumes'],
  [['g', 'f'], 'Firewall'],
  [['g', 'b'], 'Billing'],
  [['g', 'a'], 'Account'],
  [['?'], 'Show this list'],
];

export function searchView(data: {
  readonly query: string;
  readonly found: readonly FoundItem[];
  /** Whether keyboard shortcuts are on. */
  readonly shortcuts: boolean;
  readonly forms: FormContext;
}): View {
  const { query, found, shortcuts, forms } = data;
  return {
    title: query === '' ? 'Search' : 'Search results',
    section: 'search',
    body: html`${searchForm(forms, { id: 'search-page', query })}
${query === '' ? searchHint() : results(query, found)}
${section('Keyboard shortcuts', html`${shortcutTable()}${shortcutSwitch(shortcuts, forms)}`, 'shortcuts')}`,
  };
}

function searchHint(): Html {
  return html`<p class="soft">Searches names, IDs, IP addresses, tags, labels, coin addresses, and transaction
IDs of your resources, and the pages of this panel.</p>`;
}

function results(query: string, found: readonly FoundItem[]): Html {
  const pages = pagesFor(query);
  const docsPath = `${DOCS_PATHS.search}?${new URLSearchParams({ [QUERY_FIELD]: query })}`;
  // A link would put the address into a URL.
  const docs = namesAddress(query)
    ? html`The docs have no addresses of yours.`
    : html`<a href="${docsPath}">Search the docs for “${query}”</a>`;
  if (found.length === 0 && pages.length === 0) return emptyState(`No results for “${query}”.`, docs);
  const rows = found.map(({ kind, path, name, detail }) => [
    html`<a href="${path}">${name}</a>`,
    kind,
    detail === '' ? '–' : detail,
  ]);
  const links = pages.map(([name, path]) => html`<li><a href="${path}">${name}</a></li>\n`);
  return html`${
    rows.length > 0 && table({ caption: 'Resources', columns: ['Name', 'Type', 'Details'], rows })
  }
${links.length > 0 && section('Pages', html`<ul>\n${links}</ul>`)}
<p>${docs}</p>`;
}

/** Every word of the query begins a word of the page. */
function pagesFor(query: string): typeof PAGES {
  const wanted = query.toLowerCase().split(' ');
  return PAGES.filter(([name, , words]) => {
    const own = `${name} ${words}`.toLowerCase().split(/[ -]/);
    return wanted.every((word) => own.some((each) => each.startsWith(word)));
  });
}

function shortcutTable(): Html {
  const rows = SHORTCUTS.map(([keys, action]) => [
    html`${keys.map((key, index) => html`${index > 0 && ' '}<kbd>${key}</kbd>`)}`,
    action,
  ]);
  return html`<p class="soft">Shortcuts need JavaScript.</p>
${table({ caption: 'Keyboard shortcuts', columns: ['Keys', 'Action'], rows })}`;
}

/** Speech input and slips of the hand can press single characters. */
function shortcutSwitch(isOn: boolean, forms: FormContext): Html {
  const [value, button] = isOn ? ['off', 'Turn off shortcuts'] : ['on', 'Turn on shortcuts'];
  return html`<p>${isOn ? 'Shortcuts are on.' : 'Shortcuts are off, except Ctrl K.'}</p>
${form(
  forms,
  { name: 'shortcuts' },
  html`<button class="plain" name="shortcuts" value="${value}">${button}</button>`,
)}`;
}
