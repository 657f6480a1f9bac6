/**
 * Generates the OpenAPI 3.1 document from the routes, with the schemas that validate bodies and serialize
 * responses. It is served at /v1/openapi.json, and openapi/v1.json holds a copy so that contract changes
 * appear in reviews.
 */
import type { TSchema } from 'typebox';
import { V1_ERRORS, type V1Error } from '../../../spec/errors.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { FilterRule, ListRules } from '../../../spec/lists.ts';
import { PATTERNS } from '../../../spec/patterns.ts';
import { responseSchema } from '../pipeline.ts';
import type { Route } from '../route.ts';
import { ROUTES } from '../routes.ts';
import { ERROR, HEADERS, PARAMETERS, TAG_DESCRIPTIONS } from './components.ts';
import { streamContent, WEBHOOKS } from './events.ts';
import { objectSchemas, withRefs } from './objects.ts';

const VERSION = '1.7.0';

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
          description: 'An API token: `<prefix>_live_` followed by 52 characters.',
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

const DESCRIPTION = `Manage servers and their resources over HTTP and JSON.

Authenticate each request with an API token. Scopes are cumulative: \`billing\` includes \`write\`, which
includes \`read\`. Times are RFC 3339 in UTC, money is US dollars with two decimals, and ids are opaque
strings. We reject unknown keys in bodies and queries. Every POST accepts an \`Idempotency-Key\`: we store
the first response for ${LIMITS.idempotencyRetentionHours} hours and return it again for the same request.`;

const COMMON_HEADERS = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** Omits parameters that no route uses. */
function parametersOf(routes: readonly Route[]): Json {
  const { Beta, ...others } = PARAMETERS;
  return routes.some((route) => route.beta) ? { ...others, Beta } : others;
}

function errorResponse({ status, message }: { readonly status: number; readonly message: string }): Json {
  // Rate limits belong to an authenticated caller, so 401 and 503 do not report them.
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
    description: TAG_DESCRIPTIONS[name] ?? `Operations on ${name.replaceAll('_', ' ')}.`,
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
  const bucket = route.bucket ? ' Counts toward the provisioning rate limit.' : '';
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
      const rest = {
        in: 'query',
        ...(rule.about ? { description: rule.about } : {}),
        schema: filterSchema(rule),
      };
      if (rule.type === 'labels') return [{ name, ...rest }];
      const bracketed = { name: `filter[${name}]`, ...rest };
      return rules.plainFilters ? [bracketed, { name, ...rest }] : [bracketed];
    }),
  ];
}

function filterSchema({ allowed, type }: FilterRule): Json {
  if (type === 'labels') {
    const items = { type: 'string', pattern: PATTERNS.labelFilter.pattern, examples: ['env:prod'] };
    return { type: 'array', items, maxItems: LIMITS.labelPairsMax };
  }
  return {
    type: 'string',
    ...(allowed ? { enum: [...allowed] } : {}),
    ...(type === 'time' ? { format: 'date-time' } : {}),
  };
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
  const own = route.starts ? ['X-Action-Id'] : [];
  const replayed = route.method === 'POST' ? ['Idempotent-Replayed'] : [];
  const names = [...COMMON_HEADERS, ...replayed, ...own];
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  if (route.stream) {
    return { description: 'An open stream.', headers, content: streamContent(route.stream) };
  }
  const schema = responseSchema(route);
  const content = schema === null ? {} : { content: { 'application/json': { schema } } };
  return { description: route.status === 204 ? 'No content.' : 'Successful response.', headers, ...content };
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
  const ids = route.path.includes('{') ? [404] : [];
  const ownErrors = [...ids, ...(route.errorStatuses ?? [])].map((status) => byStatus.get(status) as V1Error);
  // Any POST can conflict with an earlier use of its Idempotency-Key.
  const idempotencyErrors: V1Error[] = route.method === 'POST' ? ['conflict_state'] : [];
  const codes = [...new Set<V1Error>([...COMMON_ERRORS, ...ownErrors, ...idempotencyErrors])];
  const rows = codes.map(
    (code) => [V1_ERRORS[code].status, { $ref: `#/components/responses/${code}` }] as const,
  );
  return Object.fromEntries(rows.sort(([a], [b]) => a - b));
}
