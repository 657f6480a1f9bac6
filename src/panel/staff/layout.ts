/** The frame around every page of the operator's console. */
import type { FormContext } from '../parts/form.ts';
import { form } from '../parts/form.ts';
import { Html, type HtmlValue, html } from '../parts/html.ts';

/** A page's own content. */
export interface ConsoleView {
  readonly title: string;
  readonly section?: ConsoleSection;
  /** The parent pages: `[['Customers', '/customers']]`. */
  readonly breadcrumbs?: readonly (readonly [name: string, path: string])[];
  /** Next to the title: a state, and short facts. Null ones are left out. */
  readonly status?: HtmlValue;
  readonly facts?: readonly HtmlValue[];
  readonly body: Html;
  /** The seconds after which scripts fetch the page again, and replace its parts. */
  readonly updatesEveryS?: number;
  /** Further scripts, which the page does without. */
  readonly scripts?: readonly ConsoleScript[];
  readonly httpStatus?: number;
}

export type ConsoleScript = 'charts' | 'passkeys' | 'live';

export interface ConsoleFrame {
  readonly site: string;
  readonly sandbox: boolean;
  /** The person who is signed in, or null. */
  readonly staff: { readonly name: string; readonly role: string; readonly isOwner: boolean } | null;
  readonly notice: string | null;
  readonly forms: FormContext;
  /** The URL of the page, to fetch it again; null: it stays as it is. */
  readonly url: string | null;
  readonly assets: Readonly<Record<'style' | 'script' | ConsoleScript, string>>;
}

export const CONSOLE_PATHS = {
  overview: '/',
  customers: '/customers',
  incidents: '/incidents',
  announcements: '/announcements',
  mailings: '/mailings',
  maintenance: '/maintenance',
  switches: '/switches',
  policies: '/policies',
  legalOrders: '/legal-orders',
  transparency: '/transparency',
  servers: '/servers',
  operations: '/operations',
  work: '/stuck_work',
  hosts: '/hosts',
  machines: '/machines',
  images: '/images',
  customImages: '/custom_images',
  addresses: '/addresses',
  topups: '/topups',
  tickets: '/tickets',
  answers: '/canned_answers',
  abuse: '/abuse_reports',
  abuseOffenders: '/abuse_offenders',
  abuseTemplates: '/abuse_templates',
  floods: '/floods',
  plans: '/plans',
  regions: '/regions',
  deposits: '/deposits',
  coupons: '/coupons',
  coins: '/coins',
  nodes: '/nodes',
  paidAddresses: '/paid-addresses',
  audit: '/audit',
  staff: '/staff',
  approvals: '/approvals',
  approvalRules: '/approval_rules',
  log: '/log',
  tokens: '/tokens',
  account: '/account',
  signIn: '/sign-in',
  signOut: '/sign-out',
  join: '/join',
} as const;

export type ConsoleSection = keyof typeof SECTION_NAMES;

const SECTION_NAMES = {
  overview: 'Overview',
  customers: 'Customers',
  incidents: 'Incidents',
  maintenance: 'Maintenance',
  switches: 'Switches',
  policies: 'Policies',
  legalOrders: 'Legal orders',
  transparency: 'Transparency',
  servers: 'Servers',
  operations: 'Operations',
  work: 'Stuck work',
  hosts: 'Hosts',
  machines: 'Dedicated',
  images: 'Images',
  addresses: 'Addresses',
  topups: 'Top-ups',
  tickets: 'Tickets',
  answers: 'Canned answers',
  announcements: 'Announcements',
  mailings: 'Mailings',
  abuse: 'Abuse reports',
  abuseTemplates: 'Texts about abuse',
  floods: 'Floods',
  plans: 'Plans and prices',
  deposits: 'Payments',
  coupons: 'Coupons',
  coins: 'Coins and rates',
  nodes: 'Nodes',
  paidAddresses: 'Paid addresses',
  audit: 'Audit log',
  approvals: 'Approvals',
  approvalRules: 'Approval rules',
  staff: 'Staff',
  log: 'Staff log',
  tokens: 'API tokens',
  account: 'Your account',
} as const;

/** Most icons are those of the customers' panel. */
const ICONS: Readonly<Record<ConsoleSection, string>> = {
  overview: 'status',
  customers: 'account',
  incidents: 'alerts',
  maintenance: 'firewall',
  switches: 'plans',
  policies: 'docs',
  legalOrders: 'docs',
  transparency: 'status',
  servers: 'servers',
  operations: 'webhooks',
  work: 'alerts',
  hosts: 'firewall',
  machines: 'volumes',
  images: 'images',
  addresses: 'search',
  topups: 'billing',
  tickets: 'support',
  answers: 'log',
  announcements: 'alerts',
  mailings: 'support',
  abuse: 'alerts',
  abuseTemplates: 'log',
  floods: 'webhooks',
  plans: 'servers',
  deposits: 'log',
  coupons: 'billing',
  coins: 'images',
  nodes: 'webhooks',
  paidAddresses: 'keys',
  audit: 'docs',
  approvals: 'keys',
  approvalRules: 'log',
  staff: 'staff',
  log: 'log',
  tokens: 'keys',
  account: 'account',
};

const GROUPS: readonly (readonly [title: string, sections: readonly ConsoleSection[]])[] = [
  ['Service', ['overview', 'customers', 'incidents', 'maintenance', 'switches']],
  ['Talking', ['tickets', 'answers', 'announcements', 'mailings']],
  ['Abuse and law', ['abuse', 'abuseTemplates', 'floods', 'legalOrders', 'policies', 'transparency']],
  ['Machines', ['servers', 'operations', 'work', 'hosts', 'machines', 'images', 'addresses']],
  ['Money', ['plans', 'topups', 'deposits', 'coupons', 'coins', 'nodes', 'paidAddresses']],
  ['Records', ['audit', 'log']],
  ['Access', ['approvals', 'approvalRules', 'staff', 'tokens', 'account']],
];

/** No one else can open them. */
const OF_OWNERS: readonly ConsoleSection[] = ['legalOrders', 'transparency'];

export function renderConsole(view: ConsoleView, frame: ConsoleFrame): string {
  const { site, assets, staff, forms } = frame;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${view.title} · ${site} console</title>
<link rel="stylesheet" href="${assets.style}">
${updateScript(view, frame)}<script src="${assets.script}" defer></script>
${view.scripts?.map((name) => html`<script src="${assets[name]}" defer></script>\n`)}
</head>
<body${staff && new Html(' class="inside"')} data-shortcuts="off">
<a class="skip" href="#content">Skip to content</a>
<header class="masthead">
<a class="brand" href="${CONSOLE_PATHS.overview}">${site}</a>
<span class="badges"><span class="badge">console</span>
${frame.sandbox && html`<span class="badge" title="Coins and servers are simulated">sandbox</span>`}</span>
${staff && html`<div class="here">${searchForm(forms)}</div>`}
</header>
${staff && navigation(view.section, staff, forms)}
<main id="content" tabindex="-1">
${breadcrumbTrail(view)}
${banners(frame)}
${heading(view)}
${view.body}
</main>
</body>
</html>
`.text;
}

/** Runs first, to see the page before the other scripts add to it. */
function updateScript({ updatesEveryS: seconds }: ConsoleView, { assets, url }: ConsoleFrame): Html | null {
  if (seconds === undefined || url === null) return null;
  return html`<script src="${assets.live}" defer data-url="${url}"
data-values-every="${seconds}"></script>\n`;
}

/** A POST: what is searched for may be an IP address, which no URL has. */
function searchForm(forms: FormContext): Html {
  const field = html`<label class="unseen" for="search">Find a customer</label>
<input id="search" name="search" type="search" maxlength="255" placeholder="Find a customer"
autocomplete="off">
<button class="plain">Find</button>`;
  return form(forms, { name: 'find', action: CONSOLE_PATHS.customers, class: 'find no-print' }, field);
}

function navigation(
  section: ConsoleSection | undefined,
  staff: NonNullable<ConsoleFrame['staff']>,
  forms: FormContext,
): Html {
  const link = (key: ConsoleSection): Html => {
    const current = key === section ? new Html(' aria-current="page"') : null;
    const name = SECTION_NAMES[key];
    return html`<li><a class="to-${ICONS[key]}" href="${CONSOLE_PATHS[key]}"${current}>${name}</a></li>\n`;
  };
  const isShown = (key: ConsoleSection) => staff.isOwner || !OF_OWNERS.includes(key);
  const groups = GROUPS.map(
    ([title, keys]) => html`<p>${title}</p>\n<ul>${keys.filter(isShown).map(link)}</ul>\n`,
  );
  const here = section ? html`<span class="unseen">Menu: </span>${SECTION_NAMES[section]}` : 'Menu';
  return html`<nav class="sections" aria-label="Sections">
<details class="menu"><summary>${here}</summary></details>
<div class="menu-list">
${groups}<div class="who"><p>${staff.name}<br>${staff.role}</p>
${form(
  forms,
  { name: 'sign_out', action: CONSOLE_PATHS.signOut, class: 'inline' },
  html`<button class="quiet">Sign out</button>`,
)}</div></div></nav>`;
}

function breadcrumbTrail({ breadcrumbs, title }: ConsoleView): Html | null {
  if (!breadcrumbs || breadcrumbs.length === 0) return null;
  const links = breadcrumbs.map(([name, path]) => html`<li><a href="${path}">${name}</a></li>\n`);
  return html`<nav class="trail" aria-label="Breadcrumbs"><ol>
${links}<li aria-current="page">${title}</li></ol></nav>`;
}

function heading({ title, status, facts = [] }: ConsoleView): Html {
  const shown = facts.filter((fact) => fact !== null && fact !== undefined && fact !== false);
  if (!status && shown.length === 0) return html`<h1>${title}</h1>`;
  const list = html`<ul class="page-facts">${shown.map((fact) => html`<li>${fact}</li>\n`)}</ul>`;
  return html`<header class="page-head"><div data-part="head" data-announce="Status"><h1>${title}</h1>
${status}
${shown.length > 0 && list}</div></header>`;
}

function banners({ notice, forms: { failure } }: ConsoleFrame): Html {
  return html`${notice && html`<p class="banner done" role="status">${notice}</p>\n`}
${failure && html`<div class="banner fault" role="alert"><p>${failure.message}</p></div>\n`}`;
}

/** A page that could not be shown. */
export function consoleErrorView(title: string, message: string, status: number): ConsoleView {
  return { title, httpStatus: status, body: html`<p>${message}</p>` };
}
