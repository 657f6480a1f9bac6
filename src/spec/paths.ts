/** The panel's paths. `redirect` and `topup` of the session surface contain them. */
export const PANEL_PATHS = {
  home: '/',
  plans: '/plans',
  regions: '/regions',
  status: '/status',
  terms: '/terms',
  privacy: '/privacy',
  contact: '/contact',
  abuse: '/abuse',
  transparency: '/transparency',
  docs: '/docs',
  signIn: '/signin',
  signUp: '/signup',
  signOut: '/signout',
  recover: '/recover',
  account: '/account',
  topup: '/topup',
  billing: '/billing',
  servers: '/servers',
  actions: '/actions',
  volumes: '/volumes',
  snapshots: '/snapshots',
  firewall: '/firewall',
  keys: '/keys',
  images: '/images',
  webhooks: '/webhooks',
  alerts: '/alerts',
  support: '/support',
  announcements: '/announcements',
  search: '/search',
} as const;

/** Below the status page. */
export const STATUS_PATHS = {
  history: '/status/history',
  incidents: '/status/incidents',
  feed: '/status/feed.atom',
} as const;

/** The panel's event stream, which tells open pages what changed. */
export const LIVE_PATH = '/live';

/** The documentation: its pages, and what programs read. */
export const DOCS_PATHS = {
  guides: '/docs/guides',
  changelog: '/docs/changelog',
  api: '/docs/api',
  search: '/docs/search',
  openApi: '/v1/openapi.json',
  llms: '/llms.txt',
} as const;

/** All components on one page, for people who work on the panel. Only a sandbox has it. */
export const STYLEGUIDE_PATH = '/styleguide';

/** Returns the path of the order form with the choices filled in. */
export function deployPath(choice: Readonly<Record<string, string>>): string {
  return `${DEPLOY_PATH}?${new URLSearchParams(choice)}`;
}

/**
 * Fields of every panel form: the CSRF token, the form's name within its page, the idempotency key against
 * double submission, and the row.
 */
export const PANEL_FIELDS = { csrf: '_token', form: '_form', idempotencyKey: '_once', key: 'key' } as const;

/** Query parameters with the same meaning on every page: the notice to show, and no automatic refresh. */
export const PANEL_QUERY = { notice: 'done', noRefresh: 'still' } as const;

/** Returns the page of one resource: `/volumes/vol_…`. */
export function resourcePath(list: string, id: string): string {
  return `${list}/${encodeURIComponent(id)}`;
}

/** Pages below billing. A receipt belongs to a top-up or a ledger entry. `offer` previews a top-up. */
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
  passkeys: '/account/passkeys',
  sessions: '/account/sessions',
  tokens: '/account/tokens',
  limits: '/account/limits',
  audit: '/account/audit',
  delete: '/account/delete',
} as const;

/** The QR code of a pending second factor. It belongs to the signed-in customer, so the path has no id. */
export const TOTP_QR_PATH = '/account/totp/qr.png';

/** Targets of mailed links. These pages set the visitor's cookie because each contains a form. */
export const LINK_PATHS = { confirm: '/confirm', reset: '/reset' } as const;
export type LinkPath = (typeof LINK_PATHS)[keyof typeof LINK_PATHS];

/** The link in news that turns it off, and where mail programs do so with one POST. */
export const NEWS_OFF_PATHS = { page: '/news/off', post: '/news/off/now' } as const;

/** Returns a link's path, to append to the base URL. */
export function linkPath(path: LinkPath, token: string): string {
  return `${path}?token=${token}`;
}

/** Returns the top-up page with the missing amount filled in, in US dollars with two decimals. */
export function topupPath(amountUsd: string): string {
  return `${PANEL_PATHS.topup}?amount=${amountUsd}`;
}

/** Returns the path of a server by the integer id of the session surface. */
export function serverPath(serverNo: bigint): string {
  return `${PANEL_PATHS.servers}/${serverNo}`;
}

/** The addresses of the listed servers as plain text, one per line. No id equals its last segment. */
export const SERVER_ADDRESSES_PATH = `${PANEL_PATHS.servers}/addresses`;

/** The order form. No id equals its last segment. */
export const DEPLOY_PATH = `${PANEL_PATHS.servers}/new`;
/** The same form, submitted to show the total, or to top up the missing amount and return. */
export const DEPLOY_TOTAL_PATH = `${DEPLOY_PATH}/total`;
export const DEPLOY_TOPUP_PATH = `${DEPLOY_PATH}/topup`;
/** The query parameter of the order form that opens a kept order, by its id. */
export const ORDER_QUERY = 'order';

/** The pages of one server, as suffixes of its path. */
export const SERVER_PAGES = {
  overview: '',
  metrics: '/metrics',
  network: '/network',
  storage: '/storage',
  resize: '/resize',
  rebuild: '/rebuild',
  settings: '/settings',
} as const;
export type ServerPageKey = keyof typeof SERVER_PAGES;

/** Returns a page of a server by its REST id. */
export function serverPagePath(id: string, page: ServerPageKey = 'overview'): string {
  return `${resourcePath(PANEL_PATHS.servers, id)}${SERVER_PAGES[page]}`;
}

/** Where the panel's script sends an image in parts. No id equals its last segment. */
export const PART_UPLOADS_PATH = `${PANEL_PATHS.images}/uploads`;
/** The field of the upload form with the id of a file that has arrived in parts. */
export const PART_UPLOAD_FIELD = 'upload';

/** The console: its page, and the prefix of its WebSockets. */
export const CONSOLE_PATHS = { page: '/console', sockets: '/console/socket/' } as const;

/** Returns the console page with its WebSocket's path relative to the root, as noVNC expects it. */
export function consolePath(ticket: string, { readOnly }: { readonly readOnly: boolean }): string {
  const path = encodeURIComponent(`${CONSOLE_PATHS.sockets.slice(1)}${ticket}`);
  return `${CONSOLE_PATHS.page}?path=${path}${readOnly ? '&view_only=true' : ''}`;
}
