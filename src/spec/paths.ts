/** The panel's paths, in one place: `redirect` and `topup` of the session surface name them. */
export const PANEL_PATHS = {
  home: '/',
  account: '/account',
  signIn: '/signin',
  signUp: '/signup',
  topup: '/topup',
  billing: '/billing',
  servers: '/servers',
} as const;

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

/** A server's page, by the integer that the session surface shows. */
export function serverPath(serverNo: bigint): string {
  return `${PANEL_PATHS.servers}/${serverNo}`;
}

/** The console: its page, and where its WebSockets begin. */
export const CONSOLE_PATHS = { page: '/console', sockets: '/console/socket/' } as const;

/** The page with the WebSocket that it opens, named as viewers of noVNC's kind take it: relative to the root. */
export function consolePath(ticket: string, { readOnly }: { readonly readOnly: boolean }): string {
  const path = encodeURIComponent(`${CONSOLE_PATHS.sockets.slice(1)}${ticket}`);
  return `${CONSOLE_PATHS.page}?path=${path}${readOnly ? '&view_only=true' : ''}`;
}
