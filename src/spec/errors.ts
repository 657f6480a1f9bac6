/**
 * Every error, once. A domain verb fails with a name of FAILURES, and each interface reads its own column.
 * Sources: SPEC "Errors", DECISIONS "Errors (A)", "Error items", "Closed list of codes".
 */
import { CYCLE_MONTHS, LIMITS } from './limits.ts';

/** SPEC surface B: the closed list of codes. */
export const V1_ERRORS = {
  invalid_request: { status: 400, message: 'The request failed validation.' },
  unauthenticated: { status: 401, message: 'The bearer token is missing, malformed, expired, or revoked.' },
  forbidden_scope: {
    status: 403,
    message: 'The token does not have the scope that this operation requires.',
  },
  not_found: { status: 404, message: 'Resource not found.' },
  conflict_state: { status: 409, message: 'The resource is in a state that does not allow this operation.' },
  unprocessable: { status: 422, message: 'The request is valid but cannot be processed.' },
  rate_limited: { status: 429, message: 'Too many requests. Wait for the time in Retry-After.' },
  jurisdictional_block: { status: 451, message: 'Unavailable for legal reasons.' },
  internal: { status: 500, message: 'Something went wrong on our side.' },
  maintenance: { status: 503, message: 'Temporarily unavailable. Try again later.' },
} as const;
export type V1Error = keyof typeof V1_ERRORS;

/** The values of `issue` in an item of `errors`. */
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
  /** HTTP status on the session surface, where `error` is the name of the failure. */
  readonly session: 200 | 400 | 401 | 403 | 404 | 409 | 429 | 451 | 500 | 503;
  readonly v1: V1Error;
  readonly issue?: V1Issue;
  /** The invalid field on surface B, if it is always the same. */
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
      'The CSRF token is missing or incorrect, or the request came from another site. Fetch /csrf.php again.',
  },
  bad_credentials: { session: 400, v1: 'unauthenticated', message: 'The email or password is incorrect.' },
  /** Only after the correct password, so that a stranger does not learn about the second factor. */
  code_required: { session: 400, v1: 'invalid_request', message: 'Enter a one-time code.' },
  bad_code: {
    session: 400,
    v1: 'invalid_request',
    message: 'The one-time code is incorrect. Enter the current code.',
  },
  bad_email: {
    session: 400,
    v1: 'invalid_request',
    issue: 'invalid_format',
    field: 'email',
    message: 'Enter a valid email address.',
  },
  weak_password: {
    session: 400,
    v1: 'invalid_request',
    issue: 'min_length',
    field: 'password',
    message: `Use a password of ${LIMITS.passwordMinChars} to ${LIMITS.passwordMaxChars} characters.`,
  },
  password_mismatch: {
    session: 400,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'password_confirm',
    message: 'The passwords do not match.',
  },
  email_taken: {
    session: 400,
    v1: 'conflict_state',
    field: 'email',
    message: 'An account with this email address already exists.',
  },
  bad_link: {
    session: 400,
    v1: 'invalid_request',
    message: 'This link is invalid or expired. Request a new one.',
  },
  bad_openpgp_key: { session: 200, v1: 'invalid_request', message: 'This is not an OpenPGP public key.' },
  servers_left: { session: 200, v1: 'conflict_state', message: 'Your account still has servers.' },
  payments_left: { session: 200, v1: 'conflict_state', message: 'A payment is still confirming.' },
  bad_action: {
    session: 400,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'action',
    message: 'Unknown action.',
  },
  bad_request: { session: 400, v1: 'invalid_request', message: 'The request could not be read.' },
  not_found: { session: 404, v1: 'not_found', message: 'Not found.' },
  bad_product: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'product',
    message: 'product must be vps or dedi.',
  },
  bad_plan: {
    session: 200,
    v1: 'unprocessable',
    issue: 'not_found',
    field: 'plan',
    message: 'Plan not found for this product.',
  },
  bad_region: {
    session: 200,
    v1: 'unprocessable',
    issue: 'not_found',
    field: 'region',
    message: 'Region not found.',
  },
  bad_os: {
    session: 200,
    v1: 'unprocessable',
    issue: 'not_found',
    field: 'image',
    message: 'Operating system not found.',
  },
  bad_billing: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_value',
    field: 'billing_months',
    message: `billing must be one of ${CYCLE_MONTHS.join(', ')} (months).`,
  },
  bad_password: {
    session: 200,
    v1: 'invalid_request',
    issue: 'min_length',
    field: 'root_password',
    message: 'The root password is invalid.',
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
    message: 'The amount must be a number of US dollars with at most two decimals.',
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
    message: 'scope must be read, write, or billing.',
  },
  bad_name: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_format',
    field: 'name',
    message: 'A name must have 1 to 63 printable characters.',
  },
  bad_expiry: {
    session: 200,
    v1: 'invalid_request',
    issue: 'invalid_format',
    field: 'expires_at',
    message: 'expires_at must be an RFC 3339 time in the future.',
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
    message: 'Insufficient balance.',
  },
  limit_reached: {
    session: 200,
    v1: 'unprocessable',
    issue: 'limit_reached',
    message: 'Your account has reached this limit.',
  },
  not_cancellable: { session: 200, v1: 'conflict_state', message: 'Only an unpaid invoice can be canceled.' },
  account_frozen: {
    session: 200,
    v1: 'jurisdictional_block',
    message: 'This account is frozen: you can view it but not change it. Contact us.',
  },
  idempotency_conflict: {
    session: 409,
    v1: 'conflict_state',
    field: 'Idempotency-Key',
    message: 'This Idempotency-Key was used with a different request or credential.',
  },
  /** `invalidRequest` in kernel/fail.ts names every invalid field. */
  invalid_request: {
    session: 400,
    v1: 'invalid_request',
    message: 'The request is invalid. `errors` lists each field with its allowed values.',
  },
  /** An id in a body that names nothing of the customer's. Always with `field`. */
  unknown_reference: {
    session: 200,
    v1: 'unprocessable',
    issue: 'not_found',
    message: 'The request refers to a resource that does not exist in your account.',
  },
  invalid_value: {
    session: 200,
    v1: 'unprocessable',
    issue: 'invalid_value',
    message: 'This value is not allowed here.',
  },
  required: {
    session: 200,
    v1: 'unprocessable',
    issue: 'required',
    message: 'This field is required.',
  },
  conflict_state: {
    session: 409,
    v1: 'conflict_state',
    message: 'The resource is in a state that does not allow this operation.',
  },
  forbidden_scope: {
    session: 403,
    v1: 'forbidden_scope',
    message: 'The token does not have the scope that this operation requires.',
  },
  jurisdictional_block: {
    session: 451,
    v1: 'jurisdictional_block',
    message: 'Unavailable for legal reasons.',
  },
  rate_limited: { session: 429, v1: 'rate_limited', message: 'Too many attempts. Wait and try again.' },
  /** The operation may have succeeded: possibly only the response failed. */
  internal: {
    session: 500,
    v1: 'internal',
    message: 'Something went wrong on our side. Check your servers and your ledger before you try again.',
  },
  maintenance: {
    session: 503,
    v1: 'maintenance',
    issue: 'unavailable',
    message: 'Temporarily unavailable. Try again in a moment.',
  },
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof FAILURES;
