/** Maps a thrown failure to the status and the error envelope of the REST surface. */
import { type ErrorItem, type Failure, InvalidRequest } from '../../kernel/fail.ts';
import { TOPUP_HINTS } from '../../spec/error-messages.ts';
import { FAILURES, V1_ERRORS, type V1Error, type V1Issue } from '../../spec/errors.ts';
import { describePattern } from '../../spec/patterns.ts';
import type { Quote } from '../../spec/schemas/quote.ts';

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

/** Describes in a quote the response that the quoted request would get; null: it would succeed. */
export function describeRefusal(failure: Failure | null): Pick<Quote, 'available' | 'errors' | 'refusal'> {
  if (!failure) return { available: true, errors: [], refusal: null };
  const { code, message, errors } = v1ErrorResponse(failure, '').body.error;
  return { available: false, errors: errors as Quote['errors'], refusal: { code, message } };
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

const SENTENCES_MAX = 4;

const DESCRIPTIONS: Record<V1Issue, (item: ErrorItem) => string> = {
  required: () => 'is required',
  unknown_key: () => 'is not a recognized field',
  invalid_type: ({ expected }) => (expected ? `must be of type ${expected}` : 'has an invalid type'),
  invalid_format: ({ pattern, format }) => {
    const words = describePattern(pattern);
    if (words !== undefined) return `must be ${words}`;
    if (format === 'date-time') return 'must be an RFC 3339 time, such as 2026-01-31T00:00:00Z';
    return format ? `must be a valid ${format}` : 'has an invalid format';
  },
  invalid_value: ({ allowed }) =>
    Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : 'has an invalid value',
  min_items: ({ min }) => `must have at least ${min} ${min === 1 ? 'item' : 'items'}`,
  max_items: ({ max }) => `must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  min_length: ({ min }) => `must have at least ${min} ${min === 1 ? 'character' : 'characters'}`,
  max_length: ({ max }) => `must have at most ${max} ${max === 1 ? 'character' : 'characters'}`,
  min: ({ min }) => `must be at least ${min}`,
  max: ({ max }) => `must be at most ${max}`,
  not_found: () => 'was not found',
  unavailable: () => 'is unavailable',
  insufficient_balance: () => 'costs more than your balance',
  limit_reached: ({ limit }) => `is limited to ${limit}`,
  protected: () => 'protects this resource',
  price_changed: () => 'is less than the price',
  mismatch: () => 'does not fit the rest of the request',
  wrong_state: () => 'is in a state that does not allow this',
  in_use: () => 'is in use',
  not_allowed: () => 'is outside the limits of the token',
};

/** Builds the message of a validation error: one sentence for each field, from its item. */
export function describeItems(items: readonly ErrorItem[]): string {
  const sentences = items.slice(0, SENTENCES_MAX).map((item) => {
    return `${item.field === '' ? 'The request' : item.field} ${DESCRIPTIONS[item.issue](item)}.`;
  });
  const remaining = items.length - sentences.length;
  const more = remaining === 1 ? 'There is 1 more error.' : `There are ${remaining} more errors.`;
  return [...sentences, ...(remaining > 0 ? [more] : [])].join(' ');
}
