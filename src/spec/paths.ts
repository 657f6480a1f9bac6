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
