/** What was refused, in words for the reader of a page: what is wrong and what may stand there. */
import type { V1Issue } from '../spec/errors.ts';
import { LIMITS } from '../spec/limits.ts';

/** An item of a refusal; further members are its bounds and the words that are allowed. */
export interface ProblemItem {
  readonly field: string;
  readonly issue: V1Issue;
  readonly [extra: string]: unknown;
}

type ProblemText = (item: ProblemItem) => string;

const formatNumber = (value: unknown): string => Number(value).toLocaleString('en-US');

const ISSUE_TEXTS: Record<V1Issue, ProblemText> = {
  required: () => 'This is needed.',
  unknown_key: () => 'This does not belong here.',
  invalid_type: ({ expected }) =>
    /integer|number/.test(String(expected)) ? 'This must be a number.' : 'This cannot be read.',
  invalid_format: () => 'This is not written as it has to be.',
  invalid_value: ({ allowed }) =>
    Array.isArray(allowed) && allowed.length < 12
      ? `Choose one of: ${allowed.join(', ')}.`
      : 'This cannot be used here.',
  min_items: ({ min }) => `Choose at least ${formatNumber(min)}.`,
  max_items: ({ max }) => `At most ${formatNumber(max)} are possible.`,
  min_length: ({ min }) => (min === 1 ? 'This is needed.' : `At least ${formatNumber(min)} characters.`),
  max_length: ({ max }) => `At most ${formatNumber(max)} characters.`,
  min: ({ min }) => `At least ${formatNumber(min)}.`,
  max: ({ max }) => `At most ${formatNumber(max)}.`,
  not_found: () => 'This is not there any more; choose another.',
  unavailable: () => 'This is not available right now.',
  insufficient_balance: () => 'The balance does not suffice.',
  limit_reached: ({ limit }) => `The limit of ${formatNumber(limit)} is reached.`,
};

/** Where a field has better words than its issue: what it is for says what may stand there. */
const FIELD_TEXTS: Readonly<Record<string, Partial<Record<V1Issue, ProblemText>>>> = {
  name: {
    invalid_format: ({ pattern }) =>
      pattern === undefined
        ? `At most ${LIMITS.nameMaxChars} characters, all of which can be seen.`
        : 'Lower-case letters, digits and dashes; a letter first.',
  },
  name_typed: { invalid_value: () => 'This is not the name of the server.' },
  root_password: { invalid_value: () => 'Press “Deploy with this password”, or leave it empty.' },
  tags: { invalid_format: () => 'Only characters that can be seen, one tag a line.' },
  labels: {
    invalid_format: ({ pattern }) =>
      pattern === undefined
        ? 'What stands before the = is lower-case letters, digits, - and _, at most 63 of them.'
        : 'Only characters that can be seen.',
    min_length: () => 'Something stands before each =.',
  },
  public_key: {
    invalid_format: () =>
      'Paste the whole line of the .pub file as it stands there; never the private key beside it.',
    invalid_value: ({ min, max }) =>
      min === undefined
        ? 'This is no public key that servers take. It is the line of the .pub file, which begins with its kind, such as ssh-ed25519.'
        : `An RSA key has ${formatNumber(min)} to ${formatNumber(max)} bits; make a new one, or use Ed25519.`,
  },
  expires_at: { invalid_format: () => 'Write the time as 2030-01-31 12:00, in UTC.' },
  port: {
    invalid_format: () =>
      'One port, some with commas, or a range from its lower end: 443 or 80,443 or 8000-8999.',
    invalid_value: () => 'Only TCP and UDP have ports.',
  },
  source: { invalid_format: () => 'Write it as CIDR: 203.0.113.7/32, 203.0.113.0/24, ::/0.' },
  note: { invalid_format: () => 'Only characters that can be seen, on one line.' },
  ipv4: { invalid_format: () => 'A host name, such as web.example.org.' },
  ipv6: { invalid_format: () => 'A host name, such as web.example.org.' },
  url: {
    invalid_format: () => 'A whole address that begins with https://, without spaces and without #.',
    invalid_value: () =>
      'It has to lead to the public internet, and to hold no user name, password or port 0.',
  },
};

/** `rules.3.port` is a `port`, and `labels.env` one of the `labels`. */
function fieldName(field: string): string {
  return field.replace(/^rules\.\d+\./, '').replace(/\..*/s, '');
}

export function describeProblem(item: ProblemItem): string {
  const describe = FIELD_TEXTS[fieldName(item.field)]?.[item.issue] ?? ISSUE_TEXTS[item.issue];
  return describe(item);
}

/** Refusals whose own words are for programs. */
export const FAILURE_TEXTS: Readonly<Record<string, string>> = {
  invalid_csrf:
    'This form was too old, or your browser keeps no cookies. Nothing was done: look it over and send it again.',
  invalid_request: 'Something here is not right yet: see below.',
  idempotency_conflict:
    'This form was sent before. Look whether it did what you wanted; to send another, load the page again.',
  unknown_reference: 'Something that was chosen is not there, or not any more: choose another.',
  bad_expiry: 'Choose a time that is still to come, in UTC.',
  not_found: 'This is not there any more.',
  servers_left: 'The account still has servers: tick the box to lose them with it, or destroy them first.',
  bad_request: 'This form could not be read: a field is too long or holds what is no text.',
};
