/** The retention of deprecated images (SPEC "Image", DECISIONS "Images"). */
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';

/** Returns the latest `deprecated_at` (`YYYY-MM-DD`, UTC) whose images are removed: 90 days have passed. */
export function imageRemovalCutoff(now: Date): string {
  return new Date(now.getTime() - LIMITS.deprecatedImageDays * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the day (UTC) on which an image that is deprecated since the given day is removed. */
export function imageRemovalDay(deprecatedAt: string): string {
  return new Date(Date.parse(deprecatedAt) + LIMITS.deprecatedImageDays * DAY_MS).toISOString().slice(0, 10);
}

/** Whether the image is removed. Until then it can be read. */
export function isImageRemoved(deprecatedAt: string | null, now: Date): boolean {
  return deprecatedAt !== null && deprecatedAt <= imageRemovalCutoff(now);
}
