/** Tickets: conversations with the people who run the service. */
import { closeTicket, createTicket, replyToTicket } from '../../../domain/customers/tickets/change.ts';
import { findTicket, listTickets } from '../../../domain/customers/tickets/read.ts';
import { BY_AGE } from '../../../spec/lists.ts';
import {
  CreateTicket,
  ListedTicket,
  ReplyToTicket,
  TICKET_STATUSES,
  Ticket,
} from '../../../spec/schemas/ticket.ts';
import { listRoute, type Route, route } from '../route.ts';

export const TICKET_ROUTES: readonly Route[] = [
  listRoute({
    id: 'tickets.list',
    path: '/tickets',
    scope: 'read',
    summary: 'List tickets',
    list: { filters: { status: { allowed: TICKET_STATUSES } }, ...BY_AGE },
    reply: ListedTicket,
    run: ({ service, actor, page }) => listTickets(service, actor, page),
  }),
  route({
    id: 'tickets.create',
    method: 'POST',
    path: '/tickets',
    scope: 'write',
    summary: 'Open a ticket',
    description: 'We answer in the ticket, and by email. A frozen account can also open tickets.',
    status: 201,
    errorStatuses: [422],
    audit: 'ticket.create',
    whenFrozen: true,
    body: CreateTicket,
    example: { subject: 'No route to web-1', text: 'Since 12:00 UTC, web-1 does not answer.' },
    reply: Ticket,
    run: ({ service, actor, body }) => createTicket(service, actor, body),
  }),
  route({
    id: 'tickets.get',
    method: 'GET',
    path: '/tickets/{id}',
    scope: 'read',
    summary: 'Retrieve a ticket',
    reply: Ticket,
    run: ({ service, actor, params }) => findTicket(service, actor, params.id),
  }),
  route({
    id: 'tickets.reply',
    method: 'POST',
    path: '/tickets/{id}/reply',
    scope: 'write',
    summary: 'Reply to a ticket',
    description: 'A closed ticket opens again.',
    errorStatuses: [422],
    audit: 'ticket.reply',
    whenFrozen: true,
    body: ReplyToTicket,
    example: { text: 'It works again. Thank you.' },
    reply: Ticket,
    run: ({ service, actor, params, body }) => replyToTicket(service, actor, params.id, body),
  }),
  route({
    id: 'tickets.close',
    method: 'POST',
    path: '/tickets/{id}/close',
    scope: 'write',
    summary: 'Close a ticket',
    description: 'We delete a closed ticket after a year.',
    audit: 'ticket.close',
    whenFrozen: true,
    reply: Ticket,
    run: ({ service, actor, params }) => closeTicket(service, actor, params.id),
  }),
];
