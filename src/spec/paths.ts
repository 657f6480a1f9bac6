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
