/** The page of a ticket: the talk, the forms that answer it, and its files. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CannedAnswer } from '../../../domain/customers/tickets/canned.ts';
import type { StaffTicket } from '../../../domain/customers/tickets/desk.ts';
import type { StaffActor } from '../../../domain/staff/context.ts';
import { fail } from '../../../kernel/fail.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { staffTicketView } from '../../../panel/staff/tickets.ts';
import type { TicketFileType } from '../../../spec/schemas/ticket.ts';
import { field } from '../../form.ts';
import { sendTicketFile } from '../../panel/resources/ticket-file.ts';
import type { ConsoleContext, ConsolePage } from '../page.ts';
import { formsOf, type RoomAct, roomItemPath, shownActs } from '../room.ts';
import type { AdminEdge } from '../route.ts';
import { adminRouteOf } from '../routes.ts';
import { runAdmin } from '../run.ts';
import type { ListAnswer } from './lists.ts';

const TICKETS = { path: CONSOLE_PATHS.tickets };
const isClosed = ({ status }: StaffTicket) => status === 'closed';

/** `draft` is the text of the answer to begin with. */
function actsOf(draft: string): readonly RoomAct<StaffTicket>[] {
  return [
    {
      operation: 'tickets.reply',
      title: 'Answer',
      button: 'Send answer',
      values: () => ({ text: draft }),
      notice: 'answered',
    },
    { operation: 'tickets.note', title: 'Add a note', button: 'Add note' },
    {
      operation: 'tickets.assign',
      title: 'Assign',
      button: 'Assign',
      values: ({ assignee }) => ({ assignee }),
    },
    {
      operation: 'tickets.close',
      title: 'Close',
      button: 'Close ticket',
      text: 'The customer gets no mail. A reply opens the ticket again.',
      when: (ticket) => !isClosed(ticket),
    },
    { operation: 'tickets.reopen', title: 'Open again', button: 'Open again', when: isClosed },
  ];
}

async function renderTicket(context: ConsoleContext) {
  const { read, params, query, forms } = context;
  const ticket = await read<StaffTicket>('tickets.get', params);
  const { data: answers } = await read<ListAnswer<CannedAnswer>>('canned_answers.list');
  const chosen = answers.find(({ id }) => id === field(query, 'answer'));
  const acts = shownActs(actsOf(chosen?.text ?? ''), ticket, context);
  return staffTicketView({ ticket, answers, hasDraft: chosen !== undefined, acts, forms });
}

export const TICKET_PAGES: readonly ConsolePage[] = [
  {
    path: `${CONSOLE_PATHS.tickets}/{id}`,
    access: 'staff',
    render: renderTicket,
    forms: formsOf(actsOf(''), (_answer, { id = '' }) => ({ to: roomItemPath(TICKETS, id) })),
  },
];

interface FileRequest {
  readonly Params: { readonly id: string; readonly file: string };
}

/** Serves the files of tickets as downloads. */
export function registerTicketFiles(
  scope: FastifyInstance,
  edge: AdminEdge,
  readStaff: (request: FastifyRequest, reply: FastifyReply) => Promise<StaffActor | null>,
): void {
  const path = `${CONSOLE_PATHS.tickets}/:id/files/:file`;
  scope.get<FileRequest>(path, async (request, reply) => {
    const staff = (await readStaff(request, reply)) ?? fail('auth_required');
    const file = (await runAdmin(edge, adminRouteOf('tickets.get_file'), staff, {
      params: { ...request.params },
      ...{ query: {}, body: undefined, submission: null },
    })) as { readonly name: string; readonly type: TicketFileType; readonly content_base64: string };
    return sendTicketFile(reply, { ...file, content: Buffer.from(file.content_base64, 'base64') });
  });
}
