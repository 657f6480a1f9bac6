/** A refusal as a page shows it: a sentence above, a word beside each field, and what was typed where it was. */
import { type ErrorItem, type Failure, InvalidRequest } from '../../kernel/fail.ts';
import type { FieldProblem, FormContext } from '../../panel/form.ts';
import { PLAIN_WORDS, problemText } from '../../panel/problems.ts';
import { FAILURES, V1_ERRORS } from '../../spec/errors.ts';
import { PANEL_FIELDS, topupPath } from '../../spec/paths.ts';
import { type Form, field } from '../form.ts';
import type { PanelForm } from './page.ts';

/** What is never sent back. */
const SECRET = /password|code|secret/;

export function refusedForms(
  forms: FormContext,
  failure: Failure,
  typed: Form,
  { names = {}, ownRemedy }: Pick<PanelForm, 'names' | 'ownRemedy'> = {},
): FormContext {
  const shown = [...typed].filter(([name]) => !SECRET.test(name) && !name.startsWith('_'));
  const problems = problemsOf(failure).map((problem) => ({
    ...problem,
    field: names[problem.field] ?? problem.field,
  }));
  return {
    ...forms,
    refused: { name: field(typed, PANEL_FIELDS.form), key: field(typed, PANEL_FIELDS.key) },
    values: new Map(shown),
    problems,
    failure: { message: sentence(failure), remedy: ownRemedy ? null : remedyFor(failure) },
  };
}

/** The HTTP status of a page that says so. */
export function statusOf(failure: Failure): number {
  return V1_ERRORS[FAILURES[failure.code].v1].status;
}

function problemsOf(failure: Failure): FieldProblem[] {
  if (failure instanceof InvalidRequest) {
    return failure.items.map((item: ErrorItem) => ({ field: item.field, message: problemText(item) }));
  }
  const row: { readonly message: string; readonly field?: string } = FAILURES[failure.code];
  const at = typeof failure.extras.field === 'string' ? failure.extras.field : row.field;
  return at === undefined || at === '' ? [] : [{ field: at, message: sentence(failure) }];
}

function sentence(failure: Failure): string {
  return PLAIN_WORDS[failure.code] ?? failure.message;
}

function remedyFor({ code, extras }: Failure): { path: string; name: string } | null {
  if (code !== 'insufficient_balance' || typeof extras.deficit !== 'number') return null;
  return { path: topupPath(extras.deficit.toFixed(2)), name: 'Top up what is missing' };
}
