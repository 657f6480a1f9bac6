import { Type } from 'typebox';
import {
  deleteCannedAnswer,
  listCannedAnswers,
  readCannedAnswer,
  setCannedAnswer,
} from '../../../domain/customers/tickets/canned.ts';
import {
  answerTicket,
  assignTicket,
  listTicketsForStaff,
  noteTicket,
  readStaffTicket,
  readStaffTicketFile,
  setTicketClosed,
} from '../../../domain/customers/tickets/desk.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { oneOf } from '../../../spec/schemas/parts.ts';
import { TICKET_STATUSES } from '../../../spec/schemas/ticket.ts';
import { fileAnswer } from '../files.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED, given, LIMIT, listOf, pageSize } from './lists.ts';

const NAME = Type.String({ maxLength: 255 });
const TEXT = { minLength: 1, maxLength: LIMITS.ticketTextMaxChars, title: 'Text' } as const;

function closing(id: 'tickets.close' | 'tickets.reopen', path: string, closed: boolean): AdminRoute {
  return adminRoute({
    id,
    method: 'POST',
    path,
    run: ({ service, params }) => setTicketClosed(service, (params as { readonly id: string }).id, closed),
  });
}

const TICKET_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'tickets.list',
    method: 'GET',
    path: '/tickets',
    query: Type.Object(
      {
        status: Type.Optional(oneOf(TICKET_STATUSES)),
        customer: Type.Optional(NAME),
        assignee: Type.Optional(Type.String({ maxLength: 255, description: 'An email address, or `none`.' })),
        order: Type.Optional(oneOf(['newest', 'oldest'] as const)),
        before: Type.Optional(Type.String()),
        limit: LIMIT,
      },
      CLOSED,
    ),
    run: async ({ service, query: { limit, ...query } }) => {
      const asked = { ...given(query), limit: pageSize(limit) };
      const { tickets, hasMore } = await listTicketsForStaff(service, asked);
      return listOf(tickets, hasMore);
    },
  }),
  adminRoute({
    id: 'tickets.get',
    method: 'GET',
    path: '/tickets/{id}',
    run: ({ service, params }) => readStaffTicket(service, params.id),
  }),
  adminRoute({
    id: 'tickets.get_file',
    method: 'GET',
    path: '/tickets/{id}/files/{file}',
    run: async ({ service, params }) => {
      return fileAnswer('ticket_file', await readStaffTicketFile(service, params.id, params.file));
    },
  }),
  adminRoute({
    id: 'tickets.reply',
    method: 'POST',
    path: '/tickets/{id}/reply',
    unlogged: ['text'],
    body: Type.Object(
      {
        text: Type.String({ ...TEXT, description: 'We mail it to the customer.' }),
        close: Type.Optional(Type.Boolean({ title: 'Close the ticket' })),
      },
      CLOSED,
    ),
    run: ({ service, actor, params, body }) => answerTicket(service, actor.staffId, params.id, body),
  }),
  adminRoute({
    id: 'tickets.note',
    method: 'POST',
    path: '/tickets/{id}/note',
    unlogged: ['text'],
    body: Type.Object({ text: Type.String({ ...TEXT, description: 'Only staff see it.' }) }, CLOSED),
    run: ({ service, actor, params, body }) => noteTicket(service, actor.staffId, params.id, body),
  }),
  adminRoute({
    id: 'tickets.assign',
    method: 'POST',
    path: '/tickets/{id}/assign',
    body: Type.Object(
      {
        assignee: Type.Optional(
          Type.String({ maxLength: 255, description: 'The email address of a person. Empty: no one.' }),
        ),
      },
      CLOSED,
    ),
    run: ({ service, params, body }) => assignTicket(service, params.id, body.assignee ?? ''),
  }),
  closing('tickets.close', '/tickets/{id}/close', true),
  closing('tickets.reopen', '/tickets/{id}/reopen', false),
];

const ANSWER_ROUTES: readonly AdminRoute[] = [
  adminRoute({
    id: 'canned_answers.list',
    method: 'GET',
    path: '/canned_answers',
    run: async ({ service }) => listOf(await listCannedAnswers(service), false),
  }),
  adminRoute({
    id: 'canned_answers.get',
    method: 'GET',
    path: '/canned_answers/{id}',
    run: ({ service, params }) => readCannedAnswer(service, params.id),
  }),
  adminRoute({
    id: 'canned_answers.set',
    method: 'POST',
    path: '/canned_answers',
    unlogged: ['text'],
    body: Type.Object(
      {
        name: Type.String({
          maxLength: 63,
          description: 'Lowercase letters, digits, and hyphens. An answer with this name is replaced.',
        }),
        text: Type.String(TEXT),
      },
      CLOSED,
    ),
    run: ({ service, body }) => setCannedAnswer(service, body),
  }),
  adminRoute({
    id: 'canned_answers.delete',
    method: 'DELETE',
    path: '/canned_answers/{id}',
    status: 204,
    run: async ({ service, params }) => {
      await deleteCannedAnswer(service, params.id);
      return undefined;
    },
  }),
];

export const DESK_ROUTES: readonly AdminRoute[] = [...TICKET_ROUTES, ...ANSWER_ROUTES];
