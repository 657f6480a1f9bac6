/** The panel's paths, in one place: `redirect` and `topup` of the session surface name them. */
export const PANEL_PATHS = {
  home: '/',
  plans: '/plans',
  regions: '/regions',
  status: '/status',
  terms: '/terms',
  contact: '/contact',
  docs: '/docs',
  signIn: '/signin',
  signUp: '/signup',
  signOut: '/signout',
  recover: '/recover',
  account: '/account',
  topup: '/topup',
  billing: '/billing',
  servers: '/servers',
  volumes: '/volumes',
  snapshots: '/snapshots',
  firewall: '/firewall',
  keys: '/keys',
  images: '/images',
  webhooks: '/webhooks',
} as const;

/** Pages of the documentation. */
export const DOCS_PATHS = {
  guides: '/docs/guides',
  changelog: '/docs/changelog',
  api: '/docs/api',
  search: '/docs/search',
} as const;

/** Where a plan is ordered in a region, with the choices made. */
export function deployPath(choice: Readonly<Record<string, string>>): string {
  return `${DEPLOY_PATH}?${new URLSearchParams(choice)}`;
}

/** Fields that every form of the panel carries: CSRF value, which form of its page it is, its key for a second click, its row. */
export const PANEL_FIELDS = { csrf: '_token', form: '_form', idempotencyKey: '_once', key: 'key' } as const;

/** Members of a page's query that mean the same on every page: what was just done, and not to load again by itself. */
export const PANEL_QUERY = { notice: 'done', noRefresh: 'still' } as const;

/** The page of one thing: `/volumes/vol_…`. */
export function resourcePath(list: string, id: string): string {
  return `${list}/${encodeURIComponent(id)}`;
}

/** What hangs below billing. A receipt is of a top-up or of a ledger entry, by its id. `offer` shows what a top-up would bring. */
export const BILLING_PATHS = {
  topups: '/billing/topups',
  ledger: '/billing/ledger',
  receipts: '/billing/receipts',
  statement: '/billing/statement',
  offer: '/topup/offer',
} as const;

/** The pages of the account. */
export const ACCOUNT_PATHS = {
  overview: PANEL_PATHS.account,
  totp: '/account/totp',
  sessions: '/account/sessions',
  tokens: '/account/tokens',
  audit: '/account/audit',
  delete: '/account/delete',
} as const;

/** The QR code of a second factor that is begun: of whoever asks, so its address says nothing. */
export const TOTP_QR_PATH = '/account/totp/qr.png';

/** Where links in mails lead. They set the visitor's cookie, because each page holds a form. */
export const LINK_PATHS = { confirm: '/confirm', reset: '/reset' } as const;
export type LinkPath = (typeof LINK_PATHS)[keyof typeof LINK_PATHS];

/** A link's path, to be put behind the base URL. */
export function linkPath(path: LinkPath, token: string): string {
  return `${path}?token=${token}`;
}

/** The top-up page with the missing amount filled in, in US dollars with two decimals. */
export function topupPath(amountUsd: string): string {
  return `${PANEL_PATHS.topup}?amount=${amountUsd}`;
}

/** Leads to a server's page, by the integer that the session surface shows. */
export function serverPath(serverNo: bigint): string {
  return `${PANEL_PATHS.servers}/${serverNo}`;
}

/** Where a server is ordered. No id is like its last part. */
export const DEPLOY_PATH = `${PANEL_PATHS.servers}/new`;
/** Where the same form is sent to be shown its total, or to order with a root password instead of keys. */
export const DEPLOY_TOTAL_PATH = `${DEPLOY_PATH}/total`;
export const DEPLOY_PASSWORD_PATH = `${DEPLOY_PATH}/password`;

/** The pages of one server, by what they add to its path. */
export const SERVER_PAGES = {
  overview: '',
  metrics: '/metrics',
  network: '/network',
  storage: '/storage',
  rebuild: '/rebuild',
  settings: '/settings',
} as const;
export type ServerPageKey = keyof typeof SERVER_PAGES;

/** A page of a server, by its id of the REST surface. */
export function serverPagePath(id: string, page: ServerPageKey = 'overview'): string {
  return `${resourcePath(PANEL_PATHS.servers, id)}${SERVER_PAGES[page]}`;
}

/** The console: its page, and where its WebSockets begin. */
export const CONSOLE_PATHS = { page: '/console', sockets: '/console/socket/' } as const;

/** The page with the WebSocket that it opens, named as viewers of noVNC's kind take it: relative to the root. */
export function consolePath(ticket: string, { readOnly }: { readonly readOnly: boolean }): string {
  const path = encodeURIComponent(`${CONSOLE_PATHS.sockets.slice(1)}${ticket}`);
  return `${CONSOLE_PATHS.page}?path=${path}${readOnly ? '&view_only=true' : ''}`;
}
