/**
 * The OpenAPI 3.1 document, made from the routes: the same schemas that check bodies and write answers. It is served at
 * /v1/openapi.json and kept in openapi/v1.json, so that a change of the contract is seen in review.
 */
import type { TSchema } from 'typebox';
import { V1_ERRORS, V1_ISSUES, type V1Error } from '../../spec/errors.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { ListRules } from '../../spec/lists.ts';
import { streamContent, WEBHOOKS } from './openapi-events.ts';
import { objectSchemas, withRefs } from './openapi-objects.ts';
import { responseSchema } from './pipeline.ts';
import type { Route } from './route.ts';
import { ROUTES } from './routes.ts';

const VERSION = '1.6.0';

type Json = Record<string, unknown>;

export function openApiText(): string {
  return `${JSON.stringify(openApi(ROUTES), null, 2)}\n`;
}

export function openApi(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationObject(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Skerry',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v1' }],
    security: [{ token: [] }],
    tags: tagObjects(routes),
    paths: withRefs(paths),
    webhooks: WEBHOOKS,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API token: `<prefix>_live_` and 52 characters.',
        },
      },
      schemas: { Error: ERROR, ...objectSchemas() },
      parameters: parametersOf(routes),
      headers: HEADERS,
      responses: Object.fromEntries(
        Object.entries(V1_ERRORS).map(([code, row]) => [code, errorResponse(row)]),
      ),
    },
  };
}

const DESCRIPTION = `Servers, and what hangs on them, over HTTP and JSON.

Send an API token with each request. A scope includes those before it: read, write, billing. Times are RFC 3339 in UTC, money
is US dollars with two decimals, ids are opaque. Unknown keys in a body or a query are refused. Every POST takes an
\`Idempotency-Key\`: the first answer is kept for ${LIMITS.idempotencyRetentionHours} hours and given again to the same request.`;

/** What an item may say beside its issue: the bound, or what would have been right. */
const ISSUE_DETAILS: Json = {
  min: { type: 'number' },
  max: { type: 'number' },
  allowed: { type: 'array', items: { type: ['string', 'number'] }, description: 'With `invalid_value`.' },
  expected: { type: 'string', description: 'A type, with `invalid_type`.' },
  pattern: { type: 'string', description: 'With `invalid_format`.' },
  format: { type: 'string', description: 'With `invalid_format`.' },
  limit: { type: 'number', description: 'With `limit_reached`.' },
  have: { type: 'number', description: 'US dollars, with `insufficient_balance`; so are the next two.' },
  need: { type: 'number' },
  deficit: { type: 'number' },
  retry_after_s: { type: 'number', description: 'Seconds, with `unavailable`.' },
};

const ERROR: Json = {
  type: 'object',
  description: 'What every refusal looks like.',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'errors', 'request_id'],
      properties: {
        code: { type: 'string', enum: Object.keys(V1_ERRORS) },
        message: { type: 'string', description: 'For people: what is wrong and what to do.' },
        errors: {
          type: 'array',
          description: 'The fields at fault; beside `issue` the bound or the allowed words.',
          items: {
            type: 'object',
            required: ['field', 'issue'],
            properties: {
              field: { type: 'string', description: 'A dotted path; empty for the request as a whole.' },
              issue: { type: 'string', enum: [...V1_ISSUES] },
              ...ISSUE_DETAILS,
            },
          },
        },
        request_id: { type: 'string', description: 'As in X-Request-Id.' },
      },
    },
  },
};

const COMMON_HEADERS = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

const HEADERS: Json = {
  'X-Request-Id': { description: 'Also in the audit log.', schema: { type: 'string' } },
  'X-RateLimit-Limit': { description: 'Requests a minute.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left right now.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'When all are back, in Unix seconds.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'Idempotent-Replayed': { description: '`true` on an answer given again.', schema: { type: 'string' } },
};

const PARAMETERS: Json = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Carries the request out once; a UUIDv4, say.',
    schema: { type: 'string', minLength: 1, maxLength: LIMITS.idempotencyKeyMaxChars },
  },
  Beta: {
    name: 'X-Service-Beta',
    in: 'header',
    required: true,
    description: 'This endpoint is beta: it may break without notice.',
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
    description: '`next_cursor` of the page before; opaque, and bound to filter and sort.',
    schema: { type: 'string' },
  },
};

/** A parameter that no route has is left out. */
function parametersOf(routes: readonly Route[]): Json {
  const { Beta, ...others } = PARAMETERS;
  return routes.some((route) => route.beta) ? { ...others, Beta } : others;
}

function errorResponse({ status, message }: { readonly status: number; readonly message: string }): Json {
  // An answer to nobody we know says nothing of his rate.
  const known = status === 401 || status === 503 ? ['X-Request-Id'] : COMMON_HEADERS;
  const names = status === 429 ? [...known, 'Retry-After'] : known;
  return {
    description: message,
    headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

function tagObjects(routes: readonly Route[]): Json[] {
  return [...new Set(routes.map(tagOf))].map((name) => ({
    name,
    description: `Operations on ${name.replaceAll('_', ' ')}.`,
  }));
}

function tagOf(route: Route): string {
  return route.id.split('.')[0] ?? route.id;
}

function operationObject(route: Route): Json {
  const parameters = [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)];
  return {
    operationId: route.id,
    tags: [tagOf(route)],
    summary: route.summary,
    ...descriptionObject(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(route),
    responses: { [route.status]: successResponse(route), ...errorResponses(route) },
    'x-scope': route.scope,
    ...(route.beta ? { 'x-beta': true } : {}),
  };
}

function descriptionObject(route: Route): Json {
  const scope = `Scope: \`${route.scope}\`.`;
  const bucket = route.bucket ? ' Draws on the provisioning rate.' : '';
  return { description: [route.description, `${scope}${bucket}`].filter(Boolean).join('\n\n') };
}

function pathParameters(route: Route): Json[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route): Json[] {
  const ownErrors = Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    schema: schema as Json,
  }));
  return route.list ? [...ownErrors, ...listParameters(route.list)] : ownErrors;
}

function listParameters(rules: ListRules): Json[] {
  const sorts = rules.sorts.flatMap((field) => [field, `-${field}`]);
  const ref = (name: string) => ({ $ref: `#/components/parameters/${name}` });
  return [
    ref('PageSize'),
    ref('Cursor'),
    { name: 'sort', in: 'query', schema: { type: 'string', enum: sorts, default: rules.defaultSort } },
    ...Object.entries(rules.filters).flatMap(([name, rule]) => {
      const schema: Json = { type: 'string' };
      if (rule.allowed) schema.enum = [...rule.allowed];
      if (rule.type === 'time') schema.format = 'date-time';
      const description = rule.about ? { description: rule.about } : {};
      const bracketed = { name: `filter[${name}]`, in: 'query', ...description, schema };
      return rules.plainFilters ? [bracketed, { name, in: 'query', ...description, schema }] : [bracketed];
    }),
  ];
}

function headerParameters(route: Route): Json[] {
  const ownErrors = Object.entries(route.stream?.headers.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'header',
    schema: schema as Json,
  }));
  const names = [...(route.method === 'POST' ? ['IdempotencyKey'] : []), ...(route.beta ? ['Beta'] : [])];
  return [...ownErrors, ...names.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

function requestBody(route: Route): Json {
  if (!route.body) return {};
  const required =
    (route.body.required ?? []).length > 0 || route.method === 'PATCH' || route.method === 'PUT';
  const example = route.example ? { example: route.example } : {};
  const type = route.multipart ? 'multipart/form-data' : 'application/json';
  return { requestBody: { required, content: { [type]: { schema: route.body as TSchema, ...example } } } };
}

function successResponse(route: Route): Json {
  const names = route.method === 'POST' ? [...COMMON_HEADERS, 'Idempotent-Replayed'] : COMMON_HEADERS;
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  if (route.stream) return { description: 'It stays open.', headers, content: streamContent(route.stream) };
  const schema = responseSchema(route);
  const content = schema === null ? {} : { content: { 'application/json': { schema } } };
  return { description: route.status === 204 ? 'Done.' : 'The answer.', headers, ...content };
}

const COMMON_ERRORS: readonly V1Error[] = [
  'invalid_request',
  'unauthenticated',
  'forbidden_scope',
  'rate_limited',
  'jurisdictional_block',
  'internal',
  'maintenance',
];

function errorResponses(route: Route): Json {
  const byStatus = new Map(Object.entries(V1_ERRORS).map(([code, row]) => [row.status as number, code]));
  const ownErrors = (route.errorStatuses ?? []).map((status) => byStatus.get(status) as V1Error);
  // A POST may always be told that its key was used otherwise.
  const idempotencyErrors: V1Error[] = route.method === 'POST' ? ['conflict_state'] : [];
  const codes = [...new Set<V1Error>([...COMMON_ERRORS, ...ownErrors, ...idempotencyErrors])];
  const rows = codes.map(
    (code) => [V1_ERRORS[code].status, { $ref: `#/components/responses/${code}` }] as const,
  );
  return Object.fromEntries(rows.sort(([a], [b]) => a - b));
}
