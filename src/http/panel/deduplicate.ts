/**
 * Deduplicates second clicks on forms of visitors who are not signed in. The first result is kept for a
 * minute, in this process only. That avoids a second mail; actions that must never run twice are protected in
 * the database.
 */
import { createHash } from 'node:crypto';
import { MINUTE_MS } from '../../kernel/time.ts';
import { PANEL_FIELDS } from '../../spec/paths.ts';
import type { Call } from '../admission/forms.ts';
import { field } from '../form.ts';
import type { CustomForm, FormResult } from './page-types.ts';

const DEDUPLICATION_MS = MINUTE_MS;
const RESULTS_MAX = 1_000;

interface RecentResult {
  readonly atMs: number;
  readonly done: Promise<FormResult>;
}

/** By visitor and form, oldest first. */
const recentResults = new Map<string, RecentResult>();

/** Use as the `around` of a form. Failures are not kept. */
export const deduplicateForAMinute: NonNullable<CustomForm['around']> = async (call, next) => {
  if (field(call.form, PANEL_FIELDS.idempotencyKey) === '') return await next();
  const now = Date.now();
  for (const [place, { atMs }] of recentResults) {
    if (now - atMs <= DEDUPLICATION_MS && recentResults.size < RESULTS_MAX) break;
    recentResults.delete(place);
  }
  const key = requestKey(call);
  const previous = recentResults.get(key);
  if (previous) return await previous.done;
  const done = next();
  recentResults.set(key, { atMs: now, done });
  try {
    return await done;
  } catch (error) {
    recentResults.delete(key);
    throw error;
  }
};

function requestKey({ visit, request, form }: Call): string {
  const fields = [...form].sort(([a], [b]) => (a < b ? -1 : 1));
  const fingerprint = JSON.stringify([visit.visitor, request.routeOptions.url, fields]);
  return createHash('sha256').update(fingerprint).digest('base64');
}
