/** Fixed parts of the OpenAPI document: the error schema, headers, parameters, and tag descriptions. */
import { V1_ERRORS, V1_ISSUES } from '../../../spec/errors.ts';
import { LIMITS } from '../../../spec/limits.ts';

type Json = Record<string, unknown>;

/** Extra properties of an error item: the bound, or the values that would have been valid. */
const ISSUE_DETAILS: Json = {
  min: { type: 'number' },
  max: { type: 'number' },
  allowed: {
    type: 'array',
    items: { type: ['string', 'number'] },
    description: 'The allowed values. Set with `invalid_value`.',
  },
  expected: { type: 'string', description: 'The expected type. Set with `invalid_type`.' },
  pattern: { type: 'string', description: 'The expected pattern. Set with `invalid_format`.' },
  format: { type: 'string', description: 'The expected format. Set with `invalid_format`.' },
  limit: { type: 'number', description: 'The limit. Set with `limit_reached`.' },
  used: {
    type: 'number',
    description:
      'How much of the limit you use now. Set with `limit_reached`, unless only the request is too large.',
  },
  have: { type: 'number', description: 'Your balance in US dollars. Set with `insufficient_balance`.' },
  need: { type: 'number' },
  deficit: { type: 'number' },
  price_usd: { type: 'number', description: 'The current price in US dollars. Set with `price_changed`.' },
  retry_after_s: { type: 'number', description: 'Seconds to wait. Set with `unavailable`.' },
};

export const ERROR: Json = {
  type: 'object',
  description: 'The body of every error response.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'errors', 'request_id'],
      properties: {
        code: { type: 'string', enum: Object.keys(V1_ERRORS) },
        message: {
          type: 'string',
          description: 'A human-readable explanation: the problem and how to fix it.',
        },
        errors: {
          type: 'array',
          description: 'The invalid fields, each with its issue and the bound or the allowed values.',
          items: {
            type: 'object',
            required: ['field', 'issue'],
            properties: {
              field: {
                type: 'string',
                description: 'The dotted path of the field. Empty for the request as a whole.',
              },
              issue: { type: 'string', enum: [...V1_ISSUES] },
              ...ISSUE_DETAILS,
            },
          },
        },
        request_id: { type: 'string', description: 'The same as the X-Request-Id header.' },
      },
    },
  },
};

export const HEADERS: Json = {
  'X-Request-Id': {
    description: 'The id of the request, which the audit log also shows.',
    schema: { type: 'string' },
  },
  'X-Action-Id': {
    description: 'The id of the action that the request began, if it did: see GET /actions/{id}.',
    schema: { type: 'string' },
  },
  'X-RateLimit-Limit': { description: 'Requests allowed per minute.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests that you can send now.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'The time when your full limit is available again, in Unix seconds.',
    schema: { type: 'integer' },
  },
  'Retry-After': { description: 'Seconds to wait before you retry.', schema: { type: 'integer' } },
  'Idempotent-Replayed': {
    description: '`true` if the response is a stored copy of the first one.',
    schema: { type: 'string' },
  },
};

export const PARAMETERS: Json = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Makes retries safe: we carry out the request only once. Use a UUIDv4, for example.',
    schema: { type: 'string', minLength: 1, maxLength: LIMITS.idempotencyKeyMaxChars },
  },
  Beta: {
    name: 'X-Service-Beta',
    in: 'header',
    required: true,
    description: 'Confirms that you accept a beta endpoint, which may change without notice.',
    schema: { type: 'string', enum: ['true'] },
  },
  PageSize: {
    name: 'page_size',
    in: 'query',
    schema: { type: 'integer', minimum: 1, maximum: LIMITS.pageSizeMax, default: LIMITS.pageSizeDefault },
  },
  Cursor: {
    name: 'cursor',
    in: 'query',
    description: '`next_cursor` of the previous page. Opaque, and bound to the filter and the sort order.',
    schema: { type: 'string' },
  },
};

/** By tag. A tag is the first word of an operation's id. */
export const TAG_DESCRIPTIONS: Readonly<Record<string, string>> = {
  servers: 'Create, control, and delete servers.',
  images: 'Official operating system images, and ISO images that you upload.',
  plans: 'The plans that you can order.',
  regions: 'The regions where you can deploy servers.',
  ssh_keys: 'Public keys that we install on new servers.',
  account: 'Your account, and the token that you use.',
  limits: 'The quotas of your account, and how much of each you use.',
  tokens: 'API tokens of your account.',
  balance: 'The balance that pays for your servers.',
  ledger: 'Every credit and debit of your balance.',
  quotes: 'Prices of operations, and whether they are possible now.',
  topups: 'Payments in cryptocurrency that add to your balance.',
  volumes: 'Block storage that you attach to servers.',
  snapshots: 'Copies of server disks that you can restore.',
  firewall_groups: 'Rule lists that filter the traffic of servers.',
  firewall_rules: 'The rules of a firewall group.',
  webhooks: 'Subscriptions that deliver events to your URLs.',
  deliveries: 'The delivery log of a webhook.',
  alerts: 'Conditions on metrics of servers, and the servers for which they are met.',
  tickets: 'Conversations with us.',
  audit_events: 'The log of changes in your account.',
  actions: 'Work that takes time, with its progress and the cause of a failure.',
  events: 'A live stream of the events in your account.',
};
