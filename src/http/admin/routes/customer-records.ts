/** Operations on what staff keep about a customer: notes, tags, and limits of the account's own. */
import { Type } from 'typebox';
import { readCustomerForOperator } from '../../../domain/customers/find.ts';
import { readLimitsForOperator, setLimitsByOperator } from '../../../domain/customers/own-limits.ts';
import { addNote, readNotes, removeNote, setTags } from '../../../domain/customers/staff/notes.ts';
import { OWN_LIMIT_MAX, OWN_LIMITS } from '../../../spec/limits.ts';
import { CUSTOMER_RECORD_LIMITS } from '../../../spec/staff/customers.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, listOf } from './lists.ts';

const { noteMaxChars, tagsMax } = CUSTOMER_RECORD_LIMITS;

const LIMITS_BODY = Object.fromEntries(
  OWN_LIMITS.map(({ name, title }) => [
    name,
    Type.Optional(Type.Integer({ title, minimum: 0, maximum: OWN_LIMIT_MAX })),
  ]),
);

export const CUSTOMER_RECORD_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'customers.notes',
    method: 'GET',
    path: '/customers/{id}/notes',
    run: async ({ service, params }) => listOf(await readNotes(service, params.id), false),
  }),
  adminRoute({
    id: 'customers.add_note',
    method: 'POST',
    path: '/customers/{id}/notes',
    status: 201,
    body: Type.Object(
      {
        text: Type.String({
          title: 'Note',
          maxLength: noteMaxChars,
          description: 'For staff. An export of the account has it.',
        }),
      },
      CLOSED,
    ),
    unlogged: ['text'],
    run: async ({ service, actor, params, body }) => {
      const id = await addNote(service, params.id, { text: body.text, staffId: actor.staffId });
      return { object: 'customer_note', id };
    },
  }),
  adminRoute({
    id: 'customers.delete_note',
    method: 'POST',
    path: '/customers/{id}/delete_note',
    body: Type.Object({ note: Type.String({ maxLength: 40, description: 'Its ID.' }) }, CLOSED),
    run: async ({ service, params, body }) => {
      await removeNote(service, params.id, body.note);
      return { object: 'customer_note', id: body.note, deleted: true };
    },
  }),
  adminRoute({
    id: 'customers.set_tags',
    method: 'POST',
    path: '/customers/{id}/set_tags',
    body: Type.Object(
      {
        tags: Type.Array(Type.String({ maxLength: 40 }), {
          maxItems: tagsMax,
          description: 'Lowercase words, separated by spaces. Empty: none.',
        }),
      },
      CLOSED,
    ),
    run: async ({ service, params, body }) => {
      await setTags(service, params.id, body.tags);
      return await readCustomerForOperator(service, params.id);
    },
  }),
  adminRoute({
    id: 'customers.limits',
    method: 'GET',
    path: '/customers/{id}/limits',
    run: async ({ service, params }) => listOf(await readLimitsForOperator(service, params.id), false),
  }),
  adminRoute({
    id: 'customers.set_limits',
    method: 'POST',
    path: '/customers/{id}/limits',
    body: Type.Object(LIMITS_BODY, CLOSED),
    run: async ({ service, params, body }) => {
      const { reason: _, ...limits } = body as Record<string, number> & { reason?: unknown };
      await setLimitsByOperator(service, params.id, limits);
      return listOf(await readLimitsForOperator(service, params.id), false);
    },
  }),
];
