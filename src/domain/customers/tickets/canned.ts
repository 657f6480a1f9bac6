/** Canned answers: texts that staff send often. */
import { fail, invalidRequest } from '../../../kernel/fail.ts';
import { formatRfc3339 } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import {
  type CannedAnswerRow,
  deleteCannedAnswer as deleteRow,
  findCannedAnswer,
  listCannedAnswers as listRows,
  upsertCannedAnswer,
} from '../../../store/staff/tickets.ts';
import type { Service } from '../../context.ts';
import { cleanText } from './text.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

/** Fit for a path and a command line. */
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

export type CannedAnswer = ReturnType<typeof toObject>;

function toObject({ name, text, updated_at }: CannedAnswerRow) {
  return { object: 'canned_answer' as const, id: name, text, updated_at: formatRfc3339(updated_at) };
}

/** By name. */
export async function listCannedAnswers({ db }: Pick<Deps, 'db'>): Promise<CannedAnswer[]> {
  return (await listRows(db)).map(toObject);
}

/** Fails with `not_found`. */
export async function readCannedAnswer({ db }: Pick<Deps, 'db'>, name: string): Promise<CannedAnswer> {
  return toObject((await findCannedAnswer(db, name)) ?? answerNotFound());
}

/** Adds an answer, or replaces the text of the one with this name. Fails with `limit_reached`. */
export async function setCannedAnswer(
  { db, clock }: Deps,
  { name, text }: { readonly name: string; readonly text: string },
): Promise<CannedAnswer> {
  if (!NAME.test(name)) {
    const message = 'A name has 1 to 63 lowercase letters, digits, and hyphens.';
    invalidRequest([{ field: 'name', issue: 'invalid_format' }], message);
  }
  const row = { name, text: cleanText(text), updated_at: clock.now() };
  const limit = LIMITS.cannedAnswersMax;
  if (!(await upsertCannedAnswer(db, row, limit))) {
    fail('limit_reached', { limit }, `There can be ${limit} canned answers. Delete one first.`);
  }
  return toObject(row);
}

/** Fails with `not_found`. */
export async function deleteCannedAnswer({ db }: Pick<Deps, 'db'>, name: string): Promise<void> {
  if (!(await deleteRow(db, name))) answerNotFound();
}

function answerNotFound(): never {
  fail('not_found', {}, 'No canned answer has this name.');
}
