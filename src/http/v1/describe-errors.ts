/** Builds the message of a validation error: one sentence for each field, from its item. */
import type { ErrorItem } from '../../kernel/fail.ts';
import type { V1Issue } from '../../spec/errors.ts';

const SENTENCES_MAX = 4;

const DESCRIPTIONS: Record<V1Issue, (item: ErrorItem) => string> = {
  required: () => 'is required',
  unknown_key: () => 'is not a recognized field',
  invalid_type: ({ expected }) => (expected ? `must be of type ${expected}` : 'has an invalid type'),
  invalid_format: ({ pattern, format }) => {
    if (pattern) return `must match ${pattern}`;
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
};

export function describeItems(items: readonly ErrorItem[]): string {
  const sentences = items.slice(0, SENTENCES_MAX).map((item) => {
    return `${item.field === '' ? 'The request' : item.field} ${DESCRIPTIONS[item.issue](item)}.`;
  });
  const remaining = items.length - sentences.length;
  const more = remaining === 1 ? 'There is 1 more error.' : `There are ${remaining} more errors.`;
  return [...sentences, ...(remaining > 0 ? [more] : [])].join(' ');
}
