/** What becomes of an image once it is deprecated (SPEC "Image", DECISIONS "Images"). */
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';

/** What has this day (`YYYY-MM-DD`, UTC) or an earlier one as its `deprecated_at` is removed: 90 days have passed. */
export function imageRemovalCutoff(now: Date): string {
  return new Date(now.getTime() - LIMITS.deprecatedImageDays * DAY_MS).toISOString().slice(0, 10);
}

/** The day (UTC) on which what is deprecated since another one is removed. */
export function imageRemovalDay(deprecatedAt: string): string {
  return new Date(Date.parse(deprecatedAt) + LIMITS.deprecatedImageDays * DAY_MS).toISOString().slice(0, 10);
}

/** Whether it is removed. Until then it can be read. */
export function isImageRemoved(deprecatedAt: string | null, now: Date): boolean {
  return deprecatedAt !== null && deprecatedAt <= imageRemovalCutoff(now);
}
