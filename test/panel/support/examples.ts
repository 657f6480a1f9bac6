/**
 * Example URLs for every page of the panel, based on the estate in world.ts. A page without an example fails
 * every test that visits all pages, so none is forgotten.
 */
import type { PanelPage } from '../../../src/http/panel/page-types.ts';
import { PANEL_PAGES } from '../../../src/http/panel/pages.ts';
import type { Estate, PanelWorld } from './world.ts';

export interface Example {
  /** The name of its screenshot. */
  readonly name: string;
  readonly page: PanelPage;
  /** Includes the query. */
  readonly path: string;
  /** Whether it is viewed without signing in. */
  readonly visitor: boolean;
}

type Row = readonly [name: string, path: string];
type Rows = (estate: Estate) => readonly Row[];

const singleExample =
  (name: string, path: string): Rows =>
  () => [[name, path]];

/** Public pages that are viewed without signing in. The customer views the others and sees more there. */
const FOR_VISITORS = new Set([
  '/',
  '/plans',
  '/signin',
  '/signup',
  '/recover',
  '/confirm',
  '/reset',
  '/news/off',
  '/abuse',
  '/transparency',
  '/styleguide',
]);

const OPEN: Readonly<Record<string, Rows>> = {
  '/': singleExample('home', '/'),
  '/plans': () => [
    ['plans', '/plans'],
    ['plans-chosen', '/plans?category=vps&region=par'],
  ],
  '/plans/{id}': singleExample('plan', '/plans/s2'),
  '/regions': singleExample('regions', '/regions'),
  '/regions/{id}': singleExample('region', '/regions/par'),
  '/status': singleExample('status', '/status'),
  '/status/history': singleExample('status-history', '/status/history'),
  '/status/incidents/{id}': ({ incident }) => [['incident', `/status/incidents/${incident}`]],
  '/terms': singleExample('terms', '/terms'),
  '/privacy': singleExample('privacy', '/privacy'),
  '/contact': singleExample('contact', '/contact'),
  '/abuse': singleExample('abuse', '/abuse'),
  '/transparency': singleExample('transparency', '/transparency'),
  '/docs/guides/{name}': () => [
    ['guide', '/docs/guides/webhooks'],
    ['guide-sdk', '/docs/guides/sdk'],
    ['guide-cli', '/docs/guides/cli'],
  ],
  '/docs/search': () => [
    ['docs-search', '/docs/search?q=refund'],
    ['docs-search-empty', '/docs/search?q=xyzzy'],
  ],
  '/docs/api/{resource}': singleExample('docs-api-servers', '/docs/api/servers'),
  '/signup': singleExample('sign-up', '/signup'),
  '/signin': singleExample('sign-in', '/signin'),
  '/signout': singleExample('sign-out', '/signout'),
  '/recover': singleExample('recover', '/recover'),
  '/confirm': ({ links }) => [
    ['confirm', links.confirm],
    ['confirm-nothing', '/confirm'],
  ],
  '/news/off': ({ links }) => [['news-off', links.newsOff]],
  '/reset': ({ links }) => [
    ['reset', links.reset],
    ['reset-ask', '/reset'],
  ],
};

const MONEY: Readonly<Record<string, Rows>> = {
  '/topup': singleExample('topup', '/topup?amount=100.00'),
  '/topup/offer': singleExample('topup-offer', '/topup/offer'),
  '/billing': singleExample('billing', '/billing'),
  '/billing/ledger': singleExample('ledger', '/billing/ledger'),
  '/billing/statement': singleExample('statement', '/billing/statement'),
  '/billing/receipts/{id}': ({ topups }) => [['receipt', `/billing/receipts/${topups.credited}`]],
  '/billing/topups/{id}': ({ topups }) =>
    Object.entries(topups).map(([state, id]) => [`topup-${state}`, `/billing/topups/${id}`]),
};

const ACCOUNT: Readonly<Record<string, Rows>> = {
  '/account/tokens/{id}': ({ token }) => [['account-token', `/account/tokens/${token}`]],
  '/account/audit/{id}': ({ auditEvent }) => [['account-audit-event', `/account/audit/${auditEvent}`]],
};

const SERVERS: Readonly<Record<string, Rows>> = {
  '/actions': singleExample('actions', '/actions'),
  '/actions/{id}': ({ action }) => [['action', `/actions/${action}`]],
  '/servers': () => [
    ['servers', '/servers'],
    ['servers-filtered', '/servers?status=suspended'],
  ],
  '/servers/new': singleExample('deploy', '/servers/new?plan=s2&region=par&billing_months=3&name=web-3'),
  '/servers/new/total': singleExample('deploy-total', '/servers/new/total'),
  '/servers/new/topup': singleExample('deploy-topup', '/servers/new/topup'),
  '/servers/{id}': (estate) =>
    (['running', 'stopped', 'installing', 'suspended', 'lapsed', 'dedicated'] as const).map((state) => [
      `server-${state}`,
      `/servers/${estate[state]}`,
    ]),
};

const RESOURCES: Readonly<Record<string, Rows>> = {
  '/volumes': singleExample('volumes', '/volumes'),
  '/volumes/{id}': ({ attached, detached }) => [
    ['volume-attached', `/volumes/${attached}`],
    ['volume-detached', `/volumes/${detached}`],
  ],
  '/snapshots': singleExample('snapshots', '/snapshots'),
  '/snapshots/{id}': ({ snapshot, failedSnapshot }) => [
    ['snapshot', `/snapshots/${snapshot}`],
    ['snapshot-failed', `/snapshots/${failedSnapshot}`],
  ],
  '/firewall': singleExample('firewall-groups', '/firewall'),
  '/firewall/{id}': ({ group, emptyGroup }) => [
    ['firewall-group', `/firewall/${group}`],
    ['firewall-group-empty', `/firewall/${emptyGroup}`],
  ],
  '/firewall/{id}/settings': ({ group }) => [['firewall-settings', `/firewall/${group}/settings`]],
  '/keys': singleExample('keys', '/keys'),
  '/keys/{id}': ({ keys }) => [['key', `/keys/${keys[0]}`]],
  '/images': singleExample('images', '/images'),
  '/images/{id}': ({ ownImage, image }) => [
    ['image-own', `/images/${ownImage}`],
    ['image', `/images/${image}`],
  ],
  '/webhooks': singleExample('webhooks', '/webhooks'),
  '/webhooks/{id}': ({ webhook, brokenWebhook }) => [
    ['webhook', `/webhooks/${webhook}`],
    ['webhook-failing', `/webhooks/${brokenWebhook}`],
  ],
  '/alerts': singleExample('alerts', '/alerts'),
  '/search': () => [
    ['search', '/search?q=web'],
    ['search-empty', '/search?q=xyzzy'],
  ],
  '/support': singleExample('support', '/support'),
  '/support/{id}': ({ ticket }) => [['ticket', `/support/${ticket}`]],
  '/support/{id}/attach': ({ ticket }) => [['ticket-attach', `/support/${ticket}/attach`]],
  '/alerts/{id}': ({ alert }) => [['alert', `/alerts/${alert}`]],
};

const ROWS = { ...OPEN, ...MONEY, ...ACCOUNT, ...SERVERS, ...RESOURCES };

/** Returns a page's examples. Pages below a server need only its id. */
function rowsOf(page: PanelPage, estate: Estate): readonly Row[] {
  const rows = ROWS[page.path]?.(estate);
  if (rows) return rows;
  const part = /^\/servers\/\{id\}\/([\w-]+)$/.exec(page.path)?.[1];
  if (part !== undefined) return [[`server-${part}`, `/servers/${estate.running}/${part}`]];
  // A path without parameters is its own example.
  if (!page.path.includes('{')) return [[page.path.slice(1).replaceAll('/', '-'), page.path]];
  throw new Error(`${page.path} has no example in test/panel/support/examples.ts`);
}

export function examplesOf({ estate }: Pick<PanelWorld, 'estate'>): readonly Example[] {
  return PANEL_PAGES.flatMap((page) =>
    rowsOf(page, estate).map(([name, path]) => ({ name, path, page, visitor: FOR_VISITORS.has(page.path) })),
  );
}

/** Returns the pages that need no estate. */
export function plainExamples(): readonly Example[] {
  const none = PANEL_PAGES.filter(({ path }) => !path.includes('{'));
  return none.map((page) => ({
    name: page.path,
    path: page.path,
    page,
    visitor: FOR_VISITORS.has(page.path),
  }));
}
