/** What is wrong with a request, for people: one sentence for each field, made of what its item says. */
import type { ErrorItem } from '../../kernel/fail.ts';
import type { V1Issue } from '../../spec/errors.ts';

const SENTENCES_MAX = 4;

const DESCRIPTIONS: Record<V1Issue, (item: ErrorItem) => string> = {
  required: () => 'is missing',
  unknown_key: () => 'is not a key that can be set here',
  invalid_type: ({ expected }) => (expected ? `must be of type ${expected}` : 'has the wrong type'),
  invalid_format: ({ pattern, format }) => {
    if (pattern) return `must match ${pattern}`;
    if (format === 'date-time') return 'must be an RFC 3339 time, such as 2026-01-31T00:00:00Z';
    return format ? `must be a ${format}` : 'has the wrong form';
  },
  invalid_value: ({ allowed }) =>
    Array.isArray(allowed) ? `must be one of ${allowed.join(', ')}` : 'has a value that cannot be used here',
  min_items: ({ min }) => `needs at least ${min} ${min === 1 ? 'item' : 'items'}`,
  max_items: ({ max }) => `takes at most ${max} items`,
  min_length: ({ min }) => `needs at least ${min} ${min === 1 ? 'character' : 'characters'}`,
  max_length: ({ max }) => `takes at most ${max} characters`,
  min: ({ min }) => `must be at least ${min}`,
  max: ({ max }) => `must be at most ${max}`,
  not_found: () => 'names nothing that exists',
  unavailable: () => 'is not available',
  insufficient_balance: () => 'costs more than the balance',
  limit_reached: ({ limit }) => `is limited to ${limit}`,
};

export function describeItems(items: readonly ErrorItem[]): string {
  const sentences = items.slice(0, SENTENCES_MAX).map((item) => {
    return `${item.field === '' ? 'The request' : item.field} ${DESCRIPTIONS[item.issue](item)}.`;
  });
  const remaining = items.length - sentences.length;
  return [...sentences, ...(remaining > 0 ? [`And ${remaining} more.`] : [])].join(' ');
}
