/**
 * Converts a failure for display on a page: a summary, a message next to each field, and the previous input.
 */
import { type ErrorItem, type Failure, InvalidRequest } from '../../kernel/fail.ts';
import type { FieldProblem, FormContext } from '../../panel/parts/form.ts';
import { describeProblem, FAILURE_TEXTS } from '../../panel/parts/problem-text.ts';
import { FAILURES, V1_ERRORS } from '../../spec/errors.ts';
import { PANEL_FIELDS, topupPath } from '../../spec/paths.ts';
import { type Form, field } from '../form.ts';
import type { PanelForm } from './page-types.ts';

/** Fields that are never sent back. */
const SECRET_FIELD = /password|(?<!session_)code|secret|passkey/;

export function withFormErrors(
  forms: FormContext,
  failure: Failure,
  input: Form,
  { fieldNames = {}, hasOwnRemedy }: Pick<PanelForm, 'fieldNames' | 'hasOwnRemedy'> = {},
): FormContext {
  const shown = [...input].filter(([name]) => !SECRET_FIELD.test(name) && !name.startsWith('_'));
  const problems = fieldProblems(failure).map((problem) => ({
    ...problem,
    field: fieldNames[problem.field] ?? problem.field,
  }));
  return {
    ...forms,
    refused: { name: field(input, PANEL_FIELDS.form), key: field(input, PANEL_FIELDS.key) },
    values: new Map(shown),
    problems,
    failure: { message: failureText(failure), remedy: hasOwnRemedy ? null : findRemedy(failure) },
  };
}

/** The HTTP status of the page for this failure. */
export function httpStatus(failure: Failure): number {
  return V1_ERRORS[FAILURES[failure.code].v1].status;
}

function fieldProblems(failure: Failure): FieldProblem[] {
  if (failure instanceof InvalidRequest) {
    return failure.items.map((item: ErrorItem) => ({ field: item.field, message: describeProblem(item) }));
  }
  const row: { readonly message: string; readonly field?: string } = FAILURES[failure.code];
  const fieldName = typeof failure.extras.field === 'string' ? failure.extras.field : row.field;
  return fieldName === undefined || fieldName === ''
    ? []
    : [{ field: fieldName, message: failureText(failure) }];
}

function failureText(failure: Failure): string {
  return FAILURE_TEXTS[failure.code] ?? failure.message;
}

function findRemedy({ code, extras }: Failure): { path: string; name: string } | null {
  if (code !== 'insufficient_balance' || typeof extras.deficit !== 'number') return null;
  return { path: topupPath(extras.deficit.toFixed(2)), name: 'Top up the difference' };
}
