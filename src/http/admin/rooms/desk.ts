/** The lists of tickets, and canned answers. */
import type { CannedAnswer } from '../../../domain/customers/tickets/canned.ts';
import type { StaffTicketItem } from '../../../domain/customers/tickets/desk.ts';
import { CONSOLE_PATHS } from '../../../panel/staff/layout.ts';
import { TICKET_TONES } from '../../../panel/staff/tickets.ts';
import { type Room, roomItemPath } from '../room.ts';

const TICKETS = { path: CONSOLE_PATHS.tickets };
const ANSWERS = { path: CONSOLE_PATHS.answers };

/** The page of a ticket is its own: pages/tickets.ts. */
export const TICKETS_ROOM: Room<StaffTicketItem> = {
  section: 'tickets',
  ...TICKETS,
  title: 'Tickets',
  many: 'tickets',
  list: 'tickets.list',
  filters: [
    ['status', 'Status'],
    ['assignee', 'Assigned to'],
    ['customer', 'Customer'],
    ['order', 'Order'],
  ],
  columns: [
    { name: 'Subject', value: ({ subject }) => subject, link: ({ id }) => roomItemPath(TICKETS, id) },
    { name: 'Status', value: ({ status }) => status, as: 'state', tones: TICKET_TONES },
    { name: 'Customer', value: ({ customer }) => customer, as: 'customer' },
    { name: 'Assigned to', value: ({ assignee }) => assignee },
    { name: 'Opened', value: ({ created_at: at }) => at, as: 'time' },
    { name: 'Changed', value: ({ updated_at: at }) => at, as: 'time' },
  ],
};

export const ANSWERS_ROOM: Room<CannedAnswer> = {
  section: 'answers',
  ...ANSWERS,
  title: 'Canned answers',
  many: 'canned answers',
  intro: 'Texts that you send often. The page of a ticket offers them.',
  list: 'canned_answers.list',
  columns: [
    { name: 'Name', value: ({ id }) => id, link: ({ id }) => roomItemPath(ANSWERS, id) },
    { name: 'Text', value: ({ text }) => text.split('\n')[0] },
    { name: 'Changed', value: ({ updated_at: at }) => at, as: 'time' },
  ],
  creates: [{ operation: 'canned_answers.set', title: 'Add or replace an answer', button: 'Save answer' }],
  item: {
    get: 'canned_answers.get',
    id: ({ id }) => id,
    title: ({ id }) => id,
    details: [
      { name: 'Text', value: ({ text }) => text },
      { name: 'Changed', value: ({ updated_at: at }) => at, as: 'time' },
    ],
    acts: [
      {
        operation: 'canned_answers.set',
        title: 'Edit',
        button: 'Save answer',
        values: ({ id, text }) => ({ name: id, text }),
      },
      {
        operation: 'canned_answers.delete',
        title: 'Delete',
        button: 'Delete answer',
        isDangerous: true,
        to: () => CONSOLE_PATHS.answers,
      },
    ],
  },
};
