/** Tickets: conversations with the people who run the service. */
import type { ListedTicket, Ticket } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { listCommand } from '../lists.ts';
import { arg, requiredText, text } from '../options.ts';
import { type Column, fields, hidden, times } from '../output/format.ts';
import { describeCommand, type Resource } from '../resources.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../terminal/create-once.ts';

const STATUSES = ['open', 'answered', 'closed'] as const;

const LISTED: readonly Column<ListedTicket>[] = [
  ...fields<ListedTicket>('id', 'status', 'subject'),
  ...times<ListedTicket>('updated_at'),
  ...hidden(times<ListedTicket>('answer_by', 'created_at', 'closed_at')),
];

const DETAILS: readonly Column<Ticket>[] = [
  ...(LISTED as readonly Column<Ticket>[]),
  ...hidden<Ticket>([
    {
      name: 'messages',
      value: ({ messages }) => messages.map(({ author, text: said }) => `${author}: ${said}`),
    },
  ]),
];

const TICKET: Resource<Ticket> = {
  word: 'ticket',
  about: 'ID of the ticket',
  find: (skerry, id) => skerry.tickets.get(id),
  calls: ['tickets.get'],
};
const ID = arg('ID of the ticket', { completionKind: 'ticket' });

const list = listCommand({
  name: 'ticket list',
  about: 'List tickets',
  operations: ['tickets.list'],
  options: { status: text('status', 'Filter by status', { choices: STATUSES }) },
  columns: LISTED,
  example: 'skerry ticket list --status answered',
  list: (skerry, query) => skerry.tickets.list(query),
});

const describe = describeCommand(TICKET, {
  about: 'Show a ticket and its messages',
  columns: DETAILS,
  example: 'skerry ticket describe tkt_aaaqk3m7qzb5x2l6v4t7n8wyja',
});

const create = command({
  name: 'ticket create',
  about: 'Open a ticket, to ask the people who run the service',
  operations: ['tickets.create'],
  options: {
    subject: requiredText('text', 'Subject'),
    text: requiredText('text', 'Message'),
    ...IDEMPOTENCY_OPTIONS,
  },
  columns: DETAILS,
  example: "skerry ticket create --subject 'No route to web-1' --text 'Since 12:00 UTC, it does not answer.'",
  run: async (context, { subject, text: said, idempotencyKey: key }) => {
    const { skerry, output } = context;
    const asked = { key, subject: 'the ticket', lookupCommand: ['skerry', 'ticket', 'list'] };
    const body = { subject, text: said };
    output.show(await createOnce(context, asked, (once) => skerry.tickets.create(body, once)), DETAILS);
  },
});

const reply = command({
  name: 'ticket reply',
  about: 'Reply to a ticket; a closed one opens again',
  operations: ['tickets.reply'],
  args: { ticket: ID },
  options: { text: requiredText('text', 'Message'), ...IDEMPOTENCY_OPTIONS },
  columns: DETAILS,
  example: "skerry ticket reply tkt_aaaqk3m7qzb5x2l6v4t7n8wyja --text 'It works again.'",
  run: async (context, { ticket, text: said, idempotencyKey: key }) => {
    const { skerry, output } = context;
    const asked = { key, subject: 'the reply', lookupCommand: ['skerry', 'ticket', 'describe', ticket] };
    const send = (once: { readonly idempotencyKey: string }) =>
      skerry.tickets.reply(ticket, { text: said }, once);
    output.show(await createOnce(context, asked, send), DETAILS);
  },
});

const close = command({
  name: 'ticket close',
  about: 'Close a ticket',
  operations: ['tickets.close'],
  args: { ticket: ID },
  columns: DETAILS,
  example: 'skerry ticket close tkt_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async ({ skerry, output }, { ticket }) => {
    output.show(await skerry.tickets.close(ticket), DETAILS);
  },
});

export const TICKET_COMMANDS: readonly Command[] = [list, describe, create, reply, close];
