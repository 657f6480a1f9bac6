/** The OpenAPI document of /admin/v1, built from its routes. */
import { readVersion } from '../../kernel/settings/version.ts';
import { STAFF_OPERATIONS } from '../../spec/staff/operations.ts';
import { ROLE_NAMES } from '../../spec/staff/roles.ts';
import type { AdminRoute } from './route.ts';
import { ADMIN_ROUTES } from './routes.ts';
import { bodySchema } from './run.ts';

export function adminOpenApiText(): string {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ADMIN_ROUTES) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return JSON.stringify({
    openapi: '3.1.0',
    info: {
      title: 'Operator API',
      version: readVersion(),
      description: 'What staff of the host can do. The roles of each operation are in `x-roles`.',
    },
    servers: [{ url: '/admin/v1' }],
    security: [{ staffToken: [] }],
    components: {
      securitySchemes: { staffToken: { type: 'http', scheme: 'bearer' } },
      responses: { Error: { description: 'The error envelope, as of the customers’ API.' } },
    },
    paths,
  });
}

function operationOf(route: AdminRoute): object {
  const { summary, roles } = STAFF_OPERATIONS[route.id];
  const schema = bodySchema(route);
  const hasBody = route.method !== 'GET' && Object.keys(schema.properties).length > 0;
  const names = roles.map((role) => ROLE_NAMES[role]).join(', ');
  return {
    operationId: route.id,
    summary,
    description: `Roles: ${names}.`,
    'x-roles': roles,
    parameters: [...pathParameters(route), ...queryParameters(route)],
    ...(hasBody && { requestBody: { required: true, content: { 'application/json': { schema } } } }),
    responses: {
      [String(route.status ?? 200)]: { description: 'Done.' },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function pathParameters({ path }: AdminRoute): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: AdminRoute): object[] {
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => ({ name, in: 'query', schema }));
}
