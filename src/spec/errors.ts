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
  'protected',
  'price_changed',
  'mismatch',
  'wrong_state',
  'in_use',
  'not_allowed',
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

type FieldFault = Pick<FailureRow, 'issue' | 'field'>;

function failure(
  session: FailureRow['session'],
  v1: V1Error,
  message: string,
  fault: FieldFault = {},
): FailureRow {
  return { session, v1, message, ...fault };
}

/** Failures by name. The name is surface A's `error` code. */
export const FAILURES = {
  auth_required: failure(401, 'unauthenticated', 'Sign in first.'),
  invalid_csrf: failure(
    403,
    'forbidden_scope',
    'The CSRF token is missing or incorrect, or the request came from another site. Fetch /csrf.php again.',
  ),
  bad_credentials: failure(400, 'unauthenticated', 'The email or password is incorrect.'),
  /** Only after the correct password, so that a stranger does not learn about the second factor. */
  code_required: failure(400, 'invalid_request', 'Enter a one-time code.'),
  bad_code: failure(400, 'invalid_request', 'The one-time code is incorrect. Enter the current code.'),
  bad_passkey: failure(
    400,
    'invalid_request',
    'The passkey was not accepted. Try again, or use your password.',
    { field: 'passkey' },
  ),
  bad_coupon: failure(400, 'invalid_request', 'No coupon has this code. Check it and try again.', {
    issue: 'invalid_value',
    field: 'code',
  }),
  bad_email: failure(400, 'invalid_request', 'Enter a valid email address.', {
    issue: 'invalid_format',
    field: 'email',
  }),
  weak_password: failure(
    400,
    'invalid_request',
    `Use a password of ${LIMITS.passwordMinChars} to ${LIMITS.passwordMaxChars} characters.`,
    { issue: 'min_length', field: 'password' },
  ),
  password_mismatch: failure(400, 'invalid_request', 'The passwords do not match.', {
    issue: 'invalid_value',
    field: 'password_confirm',
  }),
  email_taken: failure(400, 'conflict_state', 'An account with this email address already exists.', {
    field: 'email',
  }),
  bad_link: failure(400, 'invalid_request', 'This link is invalid or expired. Request a new one.'),
  bad_openpgp_key: failure(200, 'invalid_request', 'This is not an OpenPGP public key.'),
  servers_left: failure(200, 'conflict_state', 'Your account still has servers.'),
  payments_left: failure(200, 'conflict_state', 'A payment is still confirming.'),
  bad_action: failure(400, 'invalid_request', 'Unknown action.', { issue: 'invalid_value', field: 'action' }),
  bad_request: failure(400, 'invalid_request', 'The request could not be read.'),
  not_found: failure(404, 'not_found', 'Not found.'),
  bad_product: failure(200, 'invalid_request', 'product must be vps or dedi.', {
    issue: 'invalid_value',
    field: 'product',
  }),
  bad_plan: failure(200, 'unprocessable', 'Plan not found for this product.', {
    issue: 'not_found',
    field: 'plan',
  }),
  bad_region: failure(200, 'unprocessable', 'Region not found.', { issue: 'not_found', field: 'region' }),
  bad_os: failure(200, 'unprocessable', 'Operating system not found.', {
    issue: 'not_found',
    field: 'image',
  }),
  bad_billing: failure(
    200,
    'invalid_request',
    `billing must be one of ${CYCLE_MONTHS.join(', ')} (months).`,
    { issue: 'invalid_value', field: 'billing_months' },
  ),
  bad_password: failure(200, 'invalid_request', 'The root password is invalid.', {
    issue: 'min_length',
    field: 'root_password',
  }),
  bad_coin: failure(200, 'invalid_request', 'This coin is not accepted.', {
    issue: 'invalid_value',
    field: 'coin',
  }),
  bad_amount: failure(
    200,
    'invalid_request',
    'The amount must be a number of US dollars with at most two decimals.',
    { issue: 'invalid_format', field: 'amount_usd' },
  ),
  amount_too_low: failure(200, 'invalid_request', 'The amount is below the minimum.', {
    issue: 'min',
    field: 'amount_usd',
  }),
  amount_too_high: failure(200, 'invalid_request', 'The amount is above the maximum.', {
    issue: 'max',
    field: 'amount_usd',
  }),
  bad_scope: failure(200, 'invalid_request', 'scope must be read, write, or billing.', {
    issue: 'invalid_value',
    field: 'scope',
  }),
  bad_name: failure(200, 'invalid_request', 'A name must have 1 to 63 printable characters.', {
    issue: 'invalid_format',
    field: 'name',
  }),
  bad_expiry: failure(200, 'invalid_request', 'expires_at must be in the future.', {
    issue: 'invalid_format',
    field: 'expires_at',
  }),
  out_of_stock: failure(200, 'unprocessable', 'This plan is sold out in this region.', {
    issue: 'unavailable',
    field: 'plan',
  }),
  unavailable: failure(200, 'unprocessable', 'This is not available right now.', { issue: 'unavailable' }),
  insufficient_balance: failure(200, 'unprocessable', 'Insufficient balance.', {
    issue: 'insufficient_balance',
    field: 'plan',
  }),
  limit_reached: failure(200, 'unprocessable', 'Your account has reached this limit.', {
    issue: 'limit_reached',
  }),
  price_changed: failure(409, 'conflict_state', 'The price is higher than the most that you accept.', {
    issue: 'price_changed',
  }),
  /** Two resources of a request that do not fit each other. */
  mismatch: failure(200, 'unprocessable', 'These do not fit each other.', { issue: 'mismatch' }),
  /** A resource in a body, in a state that does not allow the request. */
  not_ready: failure(200, 'unprocessable', 'The resource is not ready.', { issue: 'wrong_state' }),
  in_use: failure(200, 'unprocessable', 'The resource is in use.', { issue: 'in_use' }),
  /** The resource cannot be deleted while another one uses it. */
  still_in_use: failure(409, 'conflict_state', 'The resource is in use.', { issue: 'in_use' }),
  not_cancellable: failure(200, 'conflict_state', 'Only an unpaid invoice can be canceled.'),
  account_frozen: failure(
    200,
    'jurisdictional_block',
    'This account is frozen: you can view it but not change it. Contact us.',
  ),
  idempotency_conflict: failure(
    409,
    'conflict_state',
    'This Idempotency-Key was used with a different request or credential.',
    { field: 'Idempotency-Key' },
  ),
  /** `invalidRequest` in kernel/fail.ts names every invalid field. */
  invalid_request: failure(
    400,
    'invalid_request',
    'The request is invalid. `errors` lists each field with its allowed values.',
  ),
  /** An id in a body that names nothing of the customer's. Always with `field`. */
  unknown_reference: failure(
    200,
    'unprocessable',
    'The request refers to a resource that does not exist in your account.',
    { issue: 'not_found' },
  ),
  invalid_value: failure(200, 'unprocessable', 'This value is not allowed here.', { issue: 'invalid_value' }),
  required: failure(200, 'unprocessable', 'This field is required.', { issue: 'required' }),
  conflict_state: failure(
    409,
    'conflict_state',
    'The resource is in a state that does not allow this operation.',
  ),
  /** The resource would have to be in another state. Always with `field`. */
  wrong_state: failure(
    409,
    'conflict_state',
    'The resource is in a state that does not allow this operation.',
    { issue: 'wrong_state' },
  ),
  /** Always with `field`. */
  protected: failure(409, 'conflict_state', 'This resource is protected.', { issue: 'protected' }),
  forbidden_scope: failure(
    403,
    'forbidden_scope',
    'The token does not have the scope that this operation requires.',
  ),
  /** A limit of the token. Always with `field`. */
  not_allowed: failure(403, 'forbidden_scope', 'The limits of the token do not allow this.', {
    issue: 'not_allowed',
  }),
  jurisdictional_block: failure(451, 'jurisdictional_block', 'Unavailable for legal reasons.'),
  rate_limited: failure(429, 'rate_limited', 'Too many attempts. Wait and try again.'),
  /** The operation may have succeeded: possibly only the response failed. */
  internal: failure(
    500,
    'internal',
    'Something went wrong on our side. Check your servers and your ledger before you try again.',
  ),
  maintenance: failure(503, 'maintenance', 'Temporarily unavailable. Try again in a moment.', {
    issue: 'unavailable',
  }),
};

export type FailureCode = keyof typeof FAILURES;
