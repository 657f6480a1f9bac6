/** What was refused, in words for the reader of a page: what is wrong and what may stand there. */
import type { V1Issue } from '../spec/errors.ts';

/** An item of a refusal; further members are its bounds and the words that are allowed. */
export interface ProblemItem {
  readonly field: string;
  readonly issue: V1Issue;
  readonly [extra: string]: unknown;
}

type Words = (item: ProblemItem) => string;

const number = (value: unknown): string => Number(value).toLocaleString('en-US');

const ISSUES: Record<V1Issue, Words> = {
  required: () => 'This is needed.',
  unknown_key: () => 'This does not belong here.',
  invalid_type: ({ expected }) =>
    /integer|number/.test(String(expected)) ? 'This must be a number.' : 'This cannot be read.',
  invalid_format: () => 'This is not written as it has to be.',
  invalid_value: ({ allowed }) =>
    Array.isArray(allowed) && allowed.length < 12
      ? `Choose one of: ${allowed.join(', ')}.`
      : 'This cannot be used here.',
  min_items: ({ min }) => `Choose at least ${number(min)}.`,
  max_items: ({ max }) => `At most ${number(max)} are possible.`,
  min_length: ({ min }) => (min === 1 ? 'This is needed.' : `At least ${number(min)} characters.`),
  max_length: ({ max }) => `At most ${number(max)} characters.`,
  min: ({ min }) => `At least ${number(min)}.`,
  max: ({ max }) => `At most ${number(max)}.`,
  not_found: () => 'This is not there any more; choose another.',
  unavailable: () => 'This is not available right now.',
  insufficient_balance: () => 'The balance does not suffice.',
  limit_reached: ({ limit }) => `The limit of ${number(limit)} is reached.`,
};

/** Where a field has better words than its issue: what it is for says what may stand there. */
const FIELDS: Readonly<Record<string, Partial<Record<V1Issue, string>>>> = {
  name_typed: { invalid_value: 'This is not the name of the server.' },
};

export function problemText(item: ProblemItem): string {
  return FIELDS[item.field]?.[item.issue] ?? ISSUES[item.issue](item);
}

/** Refusals whose own words are for programs. */
export const PLAIN_WORDS: Readonly<Record<string, string>> = {
  invalid_csrf:
    'This form was too old, or your browser keeps no cookies. Nothing was done: look it over and send it again.',
  invalid_request: 'Something here is not right yet: see below.',
  idempotency_conflict:
    'This form was sent before. Look whether it did what you wanted; to send another, load the page again.',
  unknown_reference: 'Something that was chosen is not there any more.',
  not_found: 'This is not there any more.',
  servers_left: 'The account still has servers: tick the box to lose them with it, or destroy them first.',
  bad_request: 'This form could not be read: a field is too long or holds what is no text.',
};
