/** Support pages: tickets. */
import { createHash } from 'node:crypto';
import { attachToTicket } from '../../../domain/customers/tickets/attach.ts';
import { findTicket, listTickets } from '../../../domain/customers/tickets/read.ts';
import { attachView, ticketsView, ticketView } from '../../../panel/resources/tickets.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { PANEL_FIELDS, PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import type { Ticket } from '../../../spec/schemas/ticket.ts';
import { runOnce } from '../../admission/once.ts';
import { readSessionCookie } from '../../cookie.ts';
import { field } from '../../form.ts';
import { bodyReader, text, untrimmedText } from '../field-readers.ts';
import { receiveFile } from '../file-transfer.ts';
import { readList } from '../list.ts';
import { type CustomForm, type FormResult, type PanelPage, page, restForm } from '../page-types.ts';

const ticketPath = (id: string): string => resourcePath(PANEL_PATHS.support, id);

/** Its fields are read, and the customer is admitted, before the file. */
const ATTACH_FORM: CustomForm = {
  audit: 'ticket.attach',
  whenFrozen: true,
  // It deduplicates second clicks by the content of the file.
  skipIdempotency: true,
  run: async (call, { id }) => {
    const { edge, request, form } = call;
    const actor = call.customer();
    const file = {
      name: field(form, 'name').trim(),
      content: await receiveFile(request, LIMITS.ticketFileMaxBytes),
    };
    const body = { id, name: file.name, digest: createHash('sha256').update(file.content).digest('hex') };
    const key = field(form, PANEL_FIELDS.idempotencyKey) || undefined;
    const credential = readSessionCookie(request) ?? '';
    const { response } = await runOnce(
      call,
      { actor, key, credential, body },
      (caller) => attachToTicket(edge.service, caller, id, file),
      (ticket: Ticket): FormResult => ({ to: ticketPath(ticket.id), notice: 'ticket_file_attached' }),
    );
    return response.body as FormResult;
  },
};

export const TICKET_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.support,
    access: 'customer',
    readOperations: ['tickets.list'],
    render: async (context) => {
      const list = await readList(context, 'tickets.list', (asked) =>
        listTickets(context.service, context.customer(), asked),
      );
      const { items: tickets, filter, next, first } = list;
      return ticketsView({ tickets, filter, next, first, forms: context.forms });
    },
    forms: {
      create: restForm<Ticket>({
        operation: 'tickets.create',
        body: bodyReader({ subject: text, text: untrimmedText }),
        done: ({ id }) => ({ to: ticketPath(id), notice: 'ticket_opened' }),
      }),
    },
  },
  page({
    path: `${PANEL_PATHS.support}/{id}`,
    access: 'customer',
    readOperations: ['tickets.get'],
    render: async ({ service, customer, params, forms }) =>
      ticketView({ ticket: await findTicket(service, customer(), params.id), forms }),
    forms: {
      reply: restForm<Ticket>({
        operation: 'tickets.reply',
        body: bodyReader({ text: untrimmedText }),
        done: ({ id }) => ({ to: ticketPath(id), notice: 'ticket_replied' }),
      }),
      close: restForm<Ticket>({
        operation: 'tickets.close',
        done: ({ id }) => ({ to: ticketPath(id), notice: 'ticket_closed' }),
      }),
    },
  }),
  page({
    path: `${PANEL_PATHS.support}/{id}/attach`,
    access: 'customer',
    acceptsUpload: true,
    render: async ({ service, customer, params, forms }) =>
      attachView({ ticket: await findTicket(service, customer(), params.id), forms }),
    forms: { attach: ATTACH_FORM },
  }),
];
