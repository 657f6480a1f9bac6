/** The page of a ticket: the talk, the forms that answer it, and its files. */
import type { CannedAnswer } from '../../../domain/customers/tickets/canned.ts';
import type { StaffTicket } from '../../../domain/customers/tickets/desk.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { staffTicketView } from '../../../panel/staff/tickets.ts';
import type { TicketFileType } from '../../../spec/schemas/ticket.ts';
import { field } from '../../form.ts';
import type { ConsoleContext, ConsoleFile, ConsolePage } from '../page.ts';
import { actForms, type RoomAct, roomItemPath, shownActs } from '../room.ts';
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
    forms: actForms(actsOf(''), (_answer, { id = '' }) => ({ to: roomItemPath(TICKETS, id) })),
  },
];

/** The files of tickets, always as downloads. */
export const TICKET_FILES: readonly ConsoleFile[] = [
  {
    path: `${CONSOLE_PATHS.tickets}/{id}/files/{file}`,
    read: async ({ read, params }) => {
      const {
        name,
        type,
        content_base64: content,
      } = await read<{
        readonly name: string;
        readonly type: TicketFileType;
        readonly content_base64: string;
      }>('tickets.get_file', params);
      return {
        type: type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
        content: Buffer.from(content, 'base64'),
        name,
      };
    },
  },
];
