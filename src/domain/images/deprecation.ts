/** What becomes of an image once it is deprecated (SPEC "Image", DECISIONS "Images"). */
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';

/** Whether it is removed: 90 days after its `deprecated_at` (`YYYY-MM-DD`, UTC). Until then it can be read. */
export function imageGone(deprecatedAt: string | null, now: Date): boolean {
  if (deprecatedAt === null) return false;
  return now.getTime() >= Date.parse(`${deprecatedAt}T00:00:00Z`) + LIMITS.deprecatedImageDays * DAY_MS;
}
