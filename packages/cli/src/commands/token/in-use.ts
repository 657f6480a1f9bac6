/** Which token this command itself is using: the API does not say it, but tells when each was last used. */
import type { ApiToken } from '@skerry/sdk';

/** `last_used_at` is at most so old where a token is being used right now (SPEC "API token"). */
const LAST_USED_REFRESH_MS = 60_000;

/**
 * Whether it is the one in use. Ours was used for this very list, so only those can be ours that were used hardly before the one
 * used last; measured among each other, since this machine's clock may be wrong.
 */
export function checkInUse(token: ApiToken, all: readonly ApiToken[]): 'yes' | 'perhaps' | 'no' {
  const usedMs = (one: ApiToken) => (one.last_used_at === null ? 0 : Date.parse(one.last_used_at));
  const newestMs = Math.max(0, ...all.map(usedMs));
  const recent = all.filter((one) => usedMs(one) > 0 && usedMs(one) >= newestMs - LAST_USED_REFRESH_MS);
  if (!recent.some(({ id }) => id === token.id)) return 'no';
  return recent.length === 1 ? 'yes' : 'perhaps';
}
