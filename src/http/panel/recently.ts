/**
 * Second clicks on forms of somebody who is not signed in and is let in nowhere: the first answer is remembered for a minute, in
 * this process only. It saves a second mail; what must not happen twice is kept in the database.
 */
import { createHash } from 'node:crypto';
import { MINUTE_MS } from '../../kernel/time.ts';
import { PANEL_FIELDS } from '../../spec/paths.ts';
import type { Call } from '../endpoint.ts';
import { field } from '../form.ts';
import type { Done, OwnForm } from './page.ts';

const KEPT_MS = MINUTE_MS;
const ANSWERS_MAX = 1_000;

interface Answer {
  readonly atMs: number;
  readonly done: Promise<Done>;
}

/** By visitor and form; the oldest first. */
const answers = new Map<string, Answer>();

/** For a form's `around`. A refusal is not remembered. */
export const onceInAMinute: NonNullable<OwnForm['around']> = async (call, go) => {
  if (field(call.form, PANEL_FIELDS.once) === '') return await go();
  const now = Date.now();
  for (const [place, { atMs }] of answers) {
    if (now - atMs <= KEPT_MS && answers.size < ANSWERS_MAX) break;
    answers.delete(place);
  }
  const place = placeOf(call);
  const known = answers.get(place);
  if (known) return await known.done;
  const done = go();
  answers.set(place, { atMs: now, done });
  try {
    return await done;
  } catch (error) {
    answers.delete(place);
    throw error;
  }
};

function placeOf({ visit, request, form }: Call): string {
  const fields = [...form].sort(([a], [b]) => (a < b ? -1 : 1));
  const whole = JSON.stringify([visit.visitor, request.routeOptions.url, fields]);
  return createHash('sha256').update(whole).digest('base64');
}
