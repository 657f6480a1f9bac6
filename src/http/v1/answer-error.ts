/** The one mapper from what was thrown to what the REST surface answers: status and envelope. */
import { type Failure, InvalidRequest } from '../../kernel/fail.ts';
import { FAILURES, V1_ERRORS, type V1Error, type V1Issue } from '../../spec/errors.ts';
import { TOPUP_REMEDY } from '../../spec/refusal-words.ts';
import { inWords } from './words.ts';

export interface V1Answer {
  readonly status: number;
  readonly body: {
    readonly error: {
      readonly code: V1Error;
      readonly message: string;
      readonly errors: readonly object[];
      readonly request_id: string;
    };
  };
}

interface Row {
  readonly v1: V1Error;
  readonly issue?: V1Issue;
  readonly field?: string;
}

export function v1Answer(failure: Failure, requestId: string): V1Answer {
  const row: Row = FAILURES[failure.code];
  const code = row.v1;
  const errors = failure instanceof InvalidRequest ? failure.items : itemsOf(failure, row);
  return {
    status: V1_ERRORS[code].status,
    body: { error: { code, message: messageOf(failure), errors, request_id: requestId } },
  };
}

/** A refusal that says nothing of its own says what its items say; a short balance, where to fill it up here. */
function messageOf(failure: Failure): string {
  if (failure.code === 'insufficient_balance') return `${failure.message} ${TOPUP_REMEDY.v1}`;
  const silent = failure.message === FAILURES.invalid_request.message;
  return silent && failure instanceof InvalidRequest ? inWords(failure.items) : failure.message;
}

function itemsOf(failure: Failure, row: Row): readonly object[] {
  const { field = row.field ?? '', ...extras } = failure.extras;
  // What Retry-After says needs no item.
  if (row.v1 === 'rate_limited') return [];
  const issue = row.issue ?? (row.v1 === 'invalid_request' && field !== '' ? 'invalid_format' : undefined);
  return issue === undefined ? [] : [{ field, issue, ...extras }];
}
