/** Incidents and planned maintenance of the status page. */
import { Type } from 'typebox';
import { createIncident, resolveIncident, updateIncident } from '../../../domain/health/incidents.ts';
import { listIncidentObjects, readIncidentObject } from '../../../domain/staff/incidents.ts';
import { invalidRequest } from '../../../kernel/fail.ts';
import { OPERATOR_TEXT } from '../../../kernel/operator-error.ts';
import { parseRfc3339 } from '../../../kernel/time.ts';
import { COMPONENTS, INCIDENT_STATES } from '../../../spec/public-status.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

const COMPONENTS_MAX = 100;

const TITLE = Type.String({ minLength: 1, maxLength: OPERATOR_TEXT.lineMaxChars, title: 'Title' });
const TEXT = Type.String({
  ...{ minLength: 1, maxLength: OPERATOR_TEXT.textMaxChars, title: 'Text' },
  description: 'Customers read it on the status page.',
});
const AFFECTED = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: COMPONENTS_MAX,
    title: 'Affected components',
    description: `Of ${Object.keys(COMPONENTS).join(', ')}, and region:<code>. Empty: everything.`,
  }),
);

const time = (title: string) =>
  Type.String({
    ...{ format: 'date-time', maxLength: 40, title },
    description: 'In RFC 3339, such as 2026-12-01T22:00:00Z.',
  });

function readTime(field: string, text: string): Date {
  return parseRfc3339(text) ?? invalidRequest([{ field, issue: 'invalid_format', format: 'date-time' }]);
}

const READS: readonly AdminRoute[] = [
  adminRoute({
    id: 'incidents.list',
    method: 'GET',
    path: '/incidents',
    query: Type.Object(
      {
        open: Type.Optional(Type.Literal('true')),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { open, before, limit } }) => {
      const asked = { ...given({ open: open && (true as const), before }), limit: pageSize(limit) };
      const { incidents, hasMore } = await listIncidentObjects(service, asked);
      return listOf(incidents, hasMore);
    },
  }),
  adminRoute({
    id: 'incidents.get',
    method: 'GET',
    path: '/incidents/{id}',
    run: ({ service, params }) => readIncidentObject(service, params.id),
  }),
];

export const INCIDENT_ROUTES: readonly AdminRoute[] = [
  ...READS,
  adminRoute({
    id: 'incidents.create',
    method: 'POST',
    path: '/incidents',
    status: 201,
    body: Type.Object(
      {
        title: TITLE,
        components: AFFECTED,
        state: Type.Optional(
          Type.Enum(['investigating', 'identified', 'monitoring'], { default: 'investigating' }),
        ),
        text: TEXT,
      },
      CLOSED,
    ),
    unlogged: ['text'],
    run: async ({ service, body: { title, text, components = [], state = 'investigating' } }) => {
      const id = await createIncident(service, { title, text, components, state, planned: null });
      return await readIncidentObject(service, id);
    },
  }),
  adminRoute({
    id: 'incidents.announce',
    method: 'POST',
    path: '/incidents/announce',
    status: 201,
    body: Type.Object(
      {
        title: TITLE,
        components: AFFECTED,
        from: time('From (UTC)'),
        until: time('Until (UTC)'),
        text: TEXT,
      },
      CLOSED,
    ),
    unlogged: ['text'],
    run: async ({ service, body: { title, text, components = [], from, until } }) => {
      const planned = { from: readTime('from', from), until: readTime('until', until) };
      const incident = { title, text, components, state: 'investigating', planned } as const;
      return await readIncidentObject(service, await createIncident(service, incident));
    },
  }),
  adminRoute({
    id: 'incidents.update',
    method: 'POST',
    path: '/incidents/{id}/update',
    body: Type.Object(
      {
        state: Type.Optional(
          Type.Enum([...INCIDENT_STATES], {
            description: 'Empty: it stays as it is. A resolved incident opens again.',
          }),
        ),
        until: Type.Optional(time('Until (UTC)')),
        components: AFFECTED,
        text: TEXT,
      },
      CLOSED,
    ),
    unlogged: ['text'],
    run: async ({ service, params, body: { until, ...change } }) => {
      const end = until === undefined ? undefined : readTime('until', until);
      await updateIncident(service, params.id, { ...change, until: end });
      return await readIncidentObject(service, params.id);
    },
  }),
  adminRoute({
    id: 'incidents.resolve',
    method: 'POST',
    path: '/incidents/{id}/resolve',
    body: Type.Object({ text: TEXT }, CLOSED),
    unlogged: ['text'],
    run: async ({ service, params, body }) => {
      await resolveIncident(service, params.id, body.text);
      return await readIncidentObject(service, params.id);
    },
  }),
];
