/** Determines which token this command uses: the API shows only when each token was last used. */
import type { ApiToken } from '@skerry/sdk';

/** The maximum age of `last_used_at` for a token in use (SPEC "API token"). */
const LAST_USED_REFRESH_MS = 60_000;

/**
 * Whether this is the token in use. Listing the tokens used ours, so it can only be one of those used shortly
 * before the latest one. Times are compared with each other, because this machine's clock may be wrong.
 */
export function checkInUse(token: ApiToken, all: readonly ApiToken[]): 'yes' | 'perhaps' | 'no' {
  const usedMs = (one: ApiToken) => (one.last_used_at === null ? 0 : Date.parse(one.last_used_at));
  const newestMs = Math.max(0, ...all.map(usedMs));
  const recent = all.filter((one) => usedMs(one) > 0 && usedMs(one) >= newestMs - LAST_USED_REFRESH_MS);
  if (!recent.some(({ id }) => id === token.id)) return 'no';
  return recent.length === 1 ? 'yes' : 'perhaps';
}
