/** Validation errors in words: what is wrong and which values are accepted. */
import type { V1Issue } from '../../spec/errors.ts';
import { LIMITS } from '../../spec/limits.ts';
import { describePattern } from '../../spec/patterns.ts';
import { formatGib, formatNumber, usd } from './format.ts';

/** One item of a failed validation. Further properties hold its bounds or the allowed values. */
interface ProblemItem {
  readonly field: string;
  readonly issue: V1Issue;
  readonly [extra: string]: unknown;
}

type ProblemText = (item: ProblemItem) => string;

const numberOf = (value: unknown): string => formatNumber(Number(value));

const ISSUE_TEXTS: Record<V1Issue, ProblemText> = {
  required: () => 'Required.',
  unknown_key: () => 'This field isn’t supported.',
  invalid_type: ({ expected }) =>
    /integer|number/.test(String(expected)) ? 'Must be a number.' : 'Invalid value.',
  invalid_format: ({ pattern }) => {
    const words = describePattern(pattern);
    return words === undefined ? 'Invalid format.' : `Must be ${words}.`;
  },
  invalid_value: ({ allowed }) =>
    Array.isArray(allowed) && allowed.length < 12
      ? `Choose one of: ${allowed.join(', ')}.`
      : 'This value isn’t available here.',
  min_items: ({ min }) => (min === 1 ? 'Choose at least one.' : `Choose at least ${numberOf(min)}.`),
  max_items: ({ max }) => `Choose at most ${numberOf(max)}.`,
  min_length: ({ min }) => (min === 1 ? 'Required.' : `Must be at least ${numberOf(min)} characters.`),
  max_length: ({ max }) => `Must be at most ${numberOf(max)} characters.`,
  min: ({ min }) => `Must be at least ${numberOf(min)}.`,
  max: ({ max }) => `Must be at most ${numberOf(max)}.`,
  not_found: () => 'Not found. It may have been deleted; choose another.',
  unavailable: () => 'Currently unavailable.',
  insufficient_balance: () => 'Insufficient balance.',
  limit_reached: ({ limit }) => `You’ve reached the limit of ${numberOf(limit)}.`,
  protected: () => 'This is protected. Turn the protection off first.',
  not_allowed: () => 'Limits can only be narrowed.',
  price_changed: ({ price_usd }) => `The price is now ${usd(Number(price_usd))}.`,
  mismatch: () => 'Doesn’t fit your other choices.',
  wrong_state: () => 'Not ready. Try again later, or choose another.',
  in_use: () => 'In use. Choose another.',
};

/** Texts for fields that can be more specific than their issue. */
const FIELD_TEXTS: Readonly<Record<string, Partial<Record<V1Issue, ProblemText>>>> = {
  name: {
    invalid_format: ({ pattern }) =>
      pattern === undefined
        ? `Use at most ${LIMITS.nameMaxChars} visible characters.`
        : 'Use lowercase letters, digits, and dashes, starting with a letter.',
  },
  address: { invalid_format: () => 'Enter an address in this server’s IPv6 network.' },
  amount_usd: {
    invalid_type: () => 'Enter an amount in US dollars, such as 50 or 49.99.',
    invalid_format: () => 'Enter an amount in US dollars, such as 50 or 49.99.',
    min: ({ min }) => `Must be at least ${usd(Number(min))}.`,
    max: ({ max }) => `Must be at most ${usd(Number(max))}.`,
  },
  coin: { required: () => 'Choose a coin.' },
  events: { min_items: () => 'Choose at least one event.' },
  file: { required: () => 'Choose a file.' },
  image: { required: () => 'Choose an image.' },
  plan: { required: () => 'Choose a plan.' },
  region: { required: () => 'Choose a region.' },
  ssh_keys: { min_items: () => 'Select at least one SSH key, or paste one.' },
  root_password: {
    not_allowed: () =>
      'You chose SSH key and also typed a password. Nothing was ordered. To use a password, choose ' +
      'Password and enter it again. To use the key, deploy again without a password.',
  },
  server: { required: () => 'Choose a server.' },
  size_gb: {
    min: ({ min }) => `Must be at least ${formatGib(Number(min))}.`,
    max: ({ max }) => `Must be at most ${formatGib(Number(max))}.`,
  },
  snapshot: { required: () => 'Choose a snapshot.' },
  name_typed: { invalid_value: () => 'Doesn’t match the server name.' },
  key_name: { invalid_format: () => `Use at most ${LIMITS.nameMaxChars} visible characters.` },
  tags: { invalid_format: () => 'Use visible characters only, one tag per line.' },
  labels: {
    invalid_format: ({ pattern }) =>
      pattern === undefined
        ? 'A key is at most 63 lowercase letters, digits, dashes, and underscores.'
        : 'Use visible characters only.',
    min_length: () => 'Enter a key before each =.',
  },
  public_key: {
    invalid_format: () => 'Paste the whole line of the .pub file. Never paste your private key.',
    invalid_value: ({ min, max }) =>
      min === undefined
        ? 'Not a supported public key. Paste the line of the .pub file; it starts like ssh-ed25519.'
        : `RSA keys must have ${numberOf(min)} to ${numberOf(max)} bits. We recommend Ed25519 keys.`,
  },
  expires_at: { invalid_format: () => 'Use the format 2030-01-31 12:00, in UTC.' },
  port: {
    invalid_format: () => 'Enter a port, a list of ports, or a range: 443, or 80,443, or 8000-8999.',
    invalid_value: () => 'Only TCP and UDP have ports.',
  },
  source: { invalid_format: () => 'Use CIDR notation: 203.0.113.7/32, 203.0.113.0/24, ::/0.' },
  note: { invalid_format: () => 'Use visible characters only, on one line.' },
  url: {
    invalid_format: () => 'Enter a full URL that starts with https://, without spaces or #.',
    invalid_value: () =>
      'The URL must be reachable on the public internet and contain no user name, password, or port 0.',
  },
};

/** Maps `rules.3.port` to `port` and `labels.env` to `labels`. */
function fieldName(field: string): string {
  return field.replace(/^rules\.\d+\./, '').replace(/\..*/s, '');
}

export function describeProblem(item: ProblemItem): string {
  const describe = FIELD_TEXTS[fieldName(item.field)]?.[item.issue] ?? ISSUE_TEXTS[item.issue];
  return describe(item);
}

/** Replacements for errors whose own message addresses programs. */
export const FAILURE_TEXTS: Readonly<Record<string, string>> = {
  invalid_csrf:
    'This form expired, or your browser blocks cookies. Nothing was changed. Submit the form again.',
  invalid_request: 'Please fix the errors below.',
  idempotency_conflict:
    'This form was already submitted. Check whether it worked; to submit another, reload the page.',
  unknown_reference: 'Something you chose was not found. It may have been deleted; choose another.',
  bad_expiry: 'Enter a valid time in the future, in UTC.',
  not_found: 'Not found. It may have been deleted.',
  protected: 'This is protected, so nothing was changed. Turn the protection off first.',
  servers_left: 'This account still has servers. Tick the box to delete them with it, or delete them first.',
  bad_request: 'We couldn’t read this form: a field is too long or is not text.',
};
