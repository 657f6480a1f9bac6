/** The page of a ticket: the talk, the forms that answer it, and its files. */
import type { CannedAnswer } from '../../../domain/customers/tickets/canned.ts';
import type { StaffTicket } from '../../../domain/customers/tickets/desk.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { INSERT_BUTTON, INSERT_FIELD } from '../../../panel/staff/room-form.ts';
import { staffTicketView } from '../../../panel/staff/tickets.ts';
import { type Form, field } from '../../form.ts';
import { readDownload } from '../files.ts';
import type { ConsoleContext, ConsoleFile, ConsolePage, FormAgain, OperationForm } from '../page.ts';
import { roomItemPath } from '../room.ts';
import { actForms, type RoomAct, shownActs } from '../room-acts.ts';
import type { ListAnswer } from './lists.ts';

const TICKETS = { path: CONSOLE_PATHS.tickets };
const isClosed = ({ status }: StaffTicket) => status === 'closed';

const ACTS: readonly RoomAct<StaffTicket>[] = [
  { operation: 'tickets.reply', title: 'Answer', button: 'Send answer', notice: 'answered' },
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

async function renderTicket(context: ConsoleContext) {
  const { read, params, forms } = context;
  const ticket = await read<StaffTicket>('tickets.get', params);
  const { data: answers } = await read<ListAnswer<CannedAnswer>>('canned_answers.list');
  const inserts = answers.map(({ id }) => id);
  const acts = shownActs(ACTS, ticket, context).map((act) =>
    act.name === 'tickets.reply' && inserts.length > 0 ? { ...act, inserts } : act,
  );
  return staffTicketView({ ticket, acts, forms });
}

/** Adds the canned answer to the typed text. Null without the button: the answer is to be sent. */
async function insertAnswer(form: Form, { read }: Pick<ConsoleContext, 'read'>): Promise<FormAgain | null> {
  if (!form.has(INSERT_BUTTON)) return null;
  const { data: answers } = await read<ListAnswer<CannedAnswer>>('canned_answers.list');
  const chosen = answers.find(({ id }) => id === field(form, INSERT_FIELD));
  const typed = field(form, 'text').trimEnd();
  const text = [typed, chosen?.text ?? ''].filter((each) => each !== '').join('\n\n');
  return { again: new Map([...form, ['text', text]]) };
}

const FORMS = actForms(ACTS, (_answer, { id = '' }) => ({ to: roomItemPath(TICKETS, id) }));

export const TICKET_PAGES: readonly ConsolePage[] = [
  {
    path: `${CONSOLE_PATHS.tickets}/{id}`,
    access: 'staff',
    render: renderTicket,
    forms: {
      ...FORMS,
      'tickets.reply': { ...(FORMS['tickets.reply'] as OperationForm), otherButton: insertAnswer },
    },
  },
];

export const TICKET_FILES: readonly ConsoleFile[] = [
  {
    path: `${CONSOLE_PATHS.tickets}/{id}/files/{file}`,
    read: (context) => readDownload(context, 'tickets.get_file'),
  },
];
