/** `tickets` and `canned-answers`: talks with customers. */
import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { Service } from '../../domain/context.ts';
import {
  deleteCannedAnswer,
  listCannedAnswers,
  readCannedAnswer,
  setCannedAnswer,
} from '../../domain/customers/tickets/canned.ts';
import {
  answerTicket,
  assignTicket,
  listTicketsForStaff,
  noteTicket,
  readStaffTicket,
  readStaffTicketFile,
  type StaffTicket,
  setTicketClosed,
  type TicketQuery,
} from '../../domain/customers/tickets/desk.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { TICKET_STATUSES } from '../../spec/schemas/ticket.ts';
import type { DESK_OPERATIONS } from '../../spec/staff/desk.ts';
import type { OperatorContext } from '../context.ts';
import type { Output } from '../format/output.ts';
import { addList, formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';

import { addReceive } from './receive.ts';

const LIMIT = 100;
const ID = 'Id of the ticket, tkt_…';

export function addTickets(program: Command, context: OperatorContext): void {
  const tickets = program.command('tickets').description('Answer the tickets of customers');
  addQueries(tickets, context);
  addTexts(tickets, context);
  addChanges(tickets, context);
  addReceive(tickets, context);
  addAnswers(program.command('canned-answers').description('Manage texts that staff send often'), context);
}

function addQueries(tickets: Command, { resources, terminal }: OperatorContext): void {
  tickets
    .command('list')
    .addOption(new Option('--status <word>', 'Only this status').choices(TICKET_STATUSES))
    .option('--customer <email>', 'Only tickets of this customer')
    .option('--assignee <email>', 'Only tickets of this person, or none')
    .addOption(new Option('--order <word>', 'Order by age').choices(['newest', 'oldest']).default('newest'))
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List tickets')
    .action(async (query: TicketQuery) => {
      const { service } = await resources.service();
      const { tickets: found, hasMore } = await listTicketsForStaff(service, query);
      const rows = found.map((row) => [
        ...[row.id, row.status, row.customer, row.assignee ?? ''],
        ...[row.updated_at.slice(0, 16).replace('T', ' '), row.subject],
      ]);
      terminal.table(['ticket', 'status', 'customer', 'assignee', 'changed (UTC)', 'subject'], rows);
      if (hasMore) terminal.err(formatMoreHint(found.length, 'ticket'));
    });
  tickets
    .command('show')
    .argument('<id>', ID)
    .description('Show a ticket with its notes')
    .action(async (id: string) => {
      const { service } = await resources.service();
      printTicket(terminal, await readStaffTicket(service, id));
    });
  tickets
    .command('file')
    .argument('<id>', ID)
    .argument('<file>', 'Id of the file, tfl_…')
    .requiredOption('--to <path>', 'Where to write it')
    .description('Write a file of a ticket to disk')
    .action(async (id: string, file: string, { to }: { to: string }) => {
      const { service } = await resources.service();
      const { content, type } = await readStaffTicketFile(service, id, file);
      await writeFile(to, content, { flag: 'wx', mode: 0o600 });
      terminal.out(`wrote ${content.length} bytes of ${type} to ${to}`);
    });
}

function printTicket(terminal: Output, ticket: StaffTicket): void {
  const { messages, object: _, ...facts } = ticket;
  terminal.facts(Object.entries(facts));
  for (const { author, staff, text, files, created_at: at } of messages) {
    terminal.out('');
    terminal.out(`--- ${author}${staff === null ? '' : ` (${staff})`}, ${at}`);
    for (const line of text.split('\n')) terminal.out(line);
    for (const file of files) terminal.out(`file ${file.id}: ${file.name} (${file.size_bytes} bytes)`);
  }
  terminal.document(ticket);
}

type Change = (service: Service, id: string) => Promise<StaffTicket>;

/** Runs a change under its entry in the staff log, and prints the status. */
async function change(
  { resources, terminal }: OperatorContext,
  operation: keyof typeof DESK_OPERATIONS,
  id: string,
  verb: Change,
): Promise<void> {
  const { service } = await resources.service();
  const target = { kind: 'ticket', name: id } as const;
  const { status, assignee } = await recordCommandOn(service, operation, target, () => verb(service, id));
  terminal.out(`${id} is ${status}${assignee === null ? '' : `; assigned to ${assignee}`}`);
}

function addTexts(tickets: Command, context: OperatorContext): void {
  tickets
    .command('reply')
    .argument('<id>', ID)
    .option('--text <text>', 'The answer')
    .option('--answer <name>', 'Send this canned answer')
    .option('--close', 'Close the ticket')
    .description('Answer a ticket, and mail the answer to the customer')
    .action(async (id: string, options: { text?: string; answer?: string; close?: true }) => {
      await change(context, 'tickets.reply', id, async (service) => {
        const canned =
          options.answer === undefined ? '' : (await readCannedAnswer(service, options.answer)).text;
        const text = [canned, options.text ?? ''].filter((each) => each !== '').join('\n\n');
        return await answerTicket(service, null, id, { text, close: options.close === true });
      });
    });
  tickets
    .command('note')
    .argument('<id>', ID)
    .requiredOption('--text <text>', 'The note')
    .description('Add a note that only staff see')
    .action((id: string, { text }: { text: string }) =>
      change(context, 'tickets.note', id, (service) => noteTicket(service, null, id, { text })),
    );
}

function addChanges(tickets: Command, context: OperatorContext): void {
  tickets
    .command('assign')
    .argument('<id>', ID)
    .argument('[assignee]', 'Email address of a person; without one, no one has it')
    .description('Assign a ticket to a person')
    .action((id: string, assignee = '') =>
      change(context, 'tickets.assign', id, (service) => assignTicket(service, id, assignee)),
    );
  for (const [name, closed] of [
    ['close', true],
    ['reopen', false],
  ] as const) {
    tickets
      .command(name)
      .argument('<id>', ID)
      .description(closed ? 'Close a ticket' : 'Open a ticket again')
      .action((id: string) =>
        change(context, `tickets.${name}`, id, (service) => setTicketClosed(service, id, closed)),
      );
  }
}

function addAnswers(answers: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const record = async (
    operation: keyof typeof DESK_OPERATIONS,
    name: string,
    verb: (service: Service) => Promise<unknown>,
  ) => {
    const { service } = await resources.service();
    await recordCommandOn(service, operation, { kind: 'cannedAnswer', name }, () => verb(service));
  };
  addList(answers, context, {
    about: 'List canned answers',
    heading: ['name', 'text'],
    read: async (service) =>
      (await listCannedAnswers(service)).map(({ id, text }) => [id, text.split('\n')[0] ?? '']),
  });
  answers
    .command('show')
    .argument('<name>')
    .description('Show a canned answer')
    .action(async (name: string) => {
      const { service } = await resources.service();
      terminal.out((await readCannedAnswer(service, name)).text);
    });
  answers
    .command('set')
    .argument('<name>', 'Lowercase letters, digits, and hyphens')
    .requiredOption('--text <text>', 'The answer')
    .description('Add a canned answer, or replace its text')
    .action(async (name: string, { text }: { text: string }) => {
      await record('canned_answers.set', name, (service) => setCannedAnswer(service, { name, text }));
      terminal.out(`the answer ${name} is stored`);
    });
  answers
    .command('delete')
    .argument('<name>')
    .description('Delete a canned answer')
    .action(async (name: string) => {
      await record('canned_answers.delete', name, (service) => deleteCannedAnswer(service, name));
      terminal.out(`the answer ${name} is deleted`);
    });
}
