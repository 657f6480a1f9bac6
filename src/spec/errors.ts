/**
 * Every refusal there is, once. A domain verb fails with a name of FAILURES; each surface reads its own column.
 * Sources: SPEC "Errors", DECISIONS "Errors (A)", "Error items", "Closed list of codes".
 */
import { CYCLE_MONTHS, LIMITS } from './limits.ts';

/** SPEC surface B: the closed list of codes. */
export const V1_ERRORS = {
  invalid_request: { status: 400, message: 'The request failed validation.' },
  unauthenticated: { status: 401, message: 'The bearer token is missing, malformed, expired or revoked.' },
  forbidden_scope: { status: 403, message: 'The token lacks the scope that this operation needs.' },
  not_found: { status: 404, message: 'No such resource.' },
  conflict_state: { status: 409, message: 'The state of the resource forbids this operation.' },
  unprocessable: { status: 422, message: 'The request is well formed but cannot be carried out.' },
  rate_limited: { status: 429, message: 'Too many requests; wait as Retry-After says.' },
  jurisdictional_block: { status: 451, message: 'Refused for legal reasons.' },
  internal: { status: 500, message: 'Something went wrong on our side.' },
  maintenance: { status: 503, message: 'Not available right now; try again later.' },
} as const;
export type V1Error = keyof typeof V1_ERRORS;

/** The words an item of `errors` may use for `issue`. */
export const V1_ISSUES = [
  'required',
  'unknown_key',
  'invalid_type',
  'invalid_format',
  'invalid_value',
  'min_items',
  'max_items',
  'min_length',
  'max_length',
  'min',
  'max',
  'not_found',
  'unavailable',
  'insufficient_balance',
  'limit_reached',
] as const;
export type V1Issue = (typeof V1_ISSUES)[number];

interface FailureRow {
  /** HTTP status on the session surface; `error` there is the failure's own name. */
  readonly session: 200 | 400 | 401 | 403 | 404 | 409 | 429 | 451 | 500 | 503;
  readonly v1: V1Error;
  readonly issue?: V1Issue;
  /** The field of surface B that is at fault, where it is always the same one. */
  readonly field?: string;
  readonly message: string;
}

/** Failures by name. The name is surface A's `error` code. */
export const FAILURES = {
  auth_required: { session: 401, v1: 'unauthenticated', message: 'Sign in first.' },
  invalid_csrf: {
    session: 403,
    v1: 'forbidden_scope',
    message:
      'The CSRF value is missing or wrong, or the request came from another site. Fetch /csrf.php again.',
  },
  bad_credentials: { session: 400, v1: 'unauthenticated', message: 'E-mail or password is wrong.' },
  /** After the right password only: a stranger does not learn that the account has a second factor. */
  code_required: { session: 400, v1: 'invalid_request', message: 'Give a one-time code, too.' },
  bad_code: { session: 400, v1: 'invalid_request', message: 'This one-time code does not fit.' },
  bad_email: {
    session: 400,
    v1: 'invalid_request',
    issue: 'invalid_format',
    field: 'email',
    message: 'This is not an e-mail address.',
  },
  weak_password: {
    session: 400,
    v1: 'invalid_request',
    issue: 'min_length',
    field: 'password',
    message: `A password has ${LIMITS.passwordMinChars} to ${LIMITS.passwordMaxChars} characters.`,
  },
  password_mismatch: {
    session: 400,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'password_confirm',
    message: 'The two passwords differ.',
  },
  email_taken: {
    session: 400,
    v1: 'conflict_state',
    field: 'email',
    message: 'There is already an account with this e-mail address.',
  },
  bad_link: { session: 400, v1: 'invalid_request', message: 'This link is not valid; ask for a new one.' },
  bad_openpgp_key: { session: 200, v1: 'invalid_request', message: 'This is no OpenPGP public key.' },
  servers_left: { session: 200, v1: 'conflict_state', message: 'The account still has servers.' },
  payments_left: { session: 200, v1: 'conflict_state', message: 'A payment is still on its way.' },
  bad_action: {
    session: 400,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'action',
    message: 'This action does not exist here.',
  },
  bad_request: { session: 400, v1: 'invalid_request', message: 'The request could not be read.' },
  not_found: { session: 404, v1: 'not_found', message: 'No such thing.' },
  bad_product: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'product',
    message: 'product is vps or dedi.',
  },
  bad_plan: {
    session: 200,
    v1: 'unprocessable',
    issue: 'not_found',
    field: 'plan',
    message: 'There is no such plan for this product.',
  },
  bad_region: {
    session: 200,
    v1: 'unprocessable',
    issue: 'not_found',
    field: 'region',
    message: 'There is no such region.',
  },
  bad_os: {
    session: 200,
    v1: 'unprocessable',
    issue: 'not_found',
    field: 'image',
    message: 'There is no such operating system.',
  },
  bad_billing: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'billing_months',
    message: `billing is one of ${CYCLE_MONTHS.join(', ')} months.`,
  },
  bad_password: {
    session: 200,
    v1: 'invalid_request',
    issue: 'min_length',
    field: 'root_password',
    message: 'The root password is not acceptable.',
  },
  bad_coin: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'coin',
    message: 'This coin is not accepted.',
  },
  bad_amount: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_format',
    field: 'amount_usd',
    message: 'The amount is a number of US dollars with at most two decimals.',
  },
  amount_too_low: {
    session: 200,
    v1: 'invalid_request',
    issue: 'min',
    field: 'amount_usd',
    message: 'The amount is below the minimum.',
  },
  amount_too_high: {
    session: 200,
    v1: 'invalid_request',
    issue: 'max',
    field: 'amount_usd',
    message: 'The amount is above the maximum.',
  },
  bad_scope: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'scope',
    message: 'scope is read, write or billing.',
  },
  bad_name: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_format',
    field: 'name',
    message: 'A name has 1 to 63 printable characters.',
  },
  bad_expiry: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_format',
    field: 'expires_at',
    message: 'expires_at is an RFC 3339 time in the future.',
  },
  out_of_stock: {
    session: 200,
    v1: 'unprocessable',
    issue: 'unavailable',
    field: 'plan',
    message: 'This plan is sold out in this region.',
  },
  unavailable: {
    session: 200,
    v1: 'unprocessable',
    issue: 'unavailable',
    message: 'This is not available right now.',
  },
  insufficient_balance: {
    session: 200,
    v1: 'unprocessable',
    issue: 'insufficient_balance',
    field: 'plan',
    message: 'The balance is too low.',
  },
  limit_reached: {
    session: 200,
    v1: 'unprocessable',
    issue: 'limit_reached',
    message: 'The limit of your account is reached.',
  },
  not_cancellable: {
    session: 200,
    v1: 'conflict_state',
    message: 'Only an invoice that still waits for its payment can be cancelled.',
  },
  account_frozen: {
    session: 200,
    v1: 'jurisdictional_block',
    message: 'This account is frozen: it can be read but not changed. Contact the operator.',
  },
  idempotency_conflict: {
    session: 409,
    v1: 'conflict_state',
    field: 'Idempotency-Key',
    message: 'This Idempotency-Key was used with another request, or by another credential.',
  },
  /** Several fields may be at fault: kernel/fail.ts `invalid` names each. */
  invalid_request: {
    session: 400,
    v1: 'invalid_request',
    message: 'The request is not valid; `errors` names each field and what it may be.',
  },
  /** An id in a body that names nothing of the customer's; always with `field`. */
  unknown_reference: {
    session: 200,
    v1: 'unprocessable',
    issue: 'not_found',
    message: 'The request names something that does not exist in your account.',
  },
  /** Well formed, but it cannot be meant here; always with `field`. */
  invalid_value: {
    session: 200,
    v1: 'unprocessable',
    issue: 'invalid_value',
    message: 'This value cannot be used here.',
  },
  /** A field that is optional elsewhere; always with `field`. */
  required: {
    session: 200,
    v1: 'unprocessable',
    issue: 'required',
    message: 'This field is needed here.',
  },
  conflict_state: {
    session: 409,
    v1: 'conflict_state',
    message: 'The state of the resource forbids this operation.',
  },
  forbidden_scope: {
    session: 403,
    v1: 'forbidden_scope',
    message: 'This token lacks the scope that the operation needs.',
  },
  jurisdictional_block: {
    session: 451,
    v1: 'jurisdictional_block',
    message: 'Refused for legal reasons.',
  },
  rate_limited: { session: 429, v1: 'rate_limited', message: 'Too many attempts; wait and try again.' },
  /** It may have been carried out: what failed can be the answer alone. */
  internal: {
    session: 500,
    v1: 'internal',
    message: 'Something went wrong on our side. Look at your servers and your ledger before you try again.',
  },
  maintenance: {
    session: 503,
    v1: 'maintenance',
    issue: 'unavailable',
    message: 'Not available right now; try again in a moment.',
  },
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof FAILURES;
