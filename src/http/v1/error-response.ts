/** Maps a thrown failure to the status and the error envelope of the REST surface. */
import { type Failure, InvalidRequest } from '../../kernel/fail.ts';
import { TOPUP_HINTS } from '../../spec/error-messages.ts';
import { FAILURES, V1_ERRORS, type V1Error, type V1Issue } from '../../spec/errors.ts';
import { describeItems } from './describe-errors.ts';

export interface V1ErrorResponse {
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

interface FailureMapping {
  readonly v1: V1Error;
  readonly issue?: V1Issue;
  readonly field?: string;
}

export function v1ErrorResponse(failure: Failure, requestId: string): V1ErrorResponse {
  const mapping: FailureMapping = FAILURES[failure.code];
  const code = mapping.v1;
  const errors = failure instanceof InvalidRequest ? failure.items : errorItems(failure, mapping);
  return {
    status: V1_ERRORS[code].status,
    body: { error: { code, message: errorMessage(failure), errors, request_id: requestId } },
  };
}

/**
 * Describes the items when the failure has only the default message. Insufficient balance adds how to top up.
 */
function errorMessage(failure: Failure): string {
  if (failure.code === 'insufficient_balance') return `${failure.message} ${TOPUP_HINTS.v1}`;
  const hasDefaultMessage = failure.message === FAILURES.invalid_request.message;
  return hasDefaultMessage && failure instanceof InvalidRequest
    ? describeItems(failure.items)
    : failure.message;
}

function errorItems(failure: Failure, mapping: FailureMapping): readonly object[] {
  const { field = mapping.field ?? '', ...extras } = failure.extras;
  // Retry-After already carries the detail.
  if (mapping.v1 === 'rate_limited') return [];
  const issue =
    mapping.issue ?? (mapping.v1 === 'invalid_request' && field !== '' ? 'invalid_format' : undefined);
  return issue === undefined ? [] : [{ field, issue, ...extras }];
}
