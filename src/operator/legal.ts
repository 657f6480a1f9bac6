/** `legal`: orders of authorities with their documents, and the transparency report. */
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import { attachLegalDocument, readLegalDocument } from '../domain/staff/legal/documents.ts';
import { type LegalScopeInput, requireOrderId } from '../domain/staff/legal/fields.ts';
import {
  changeLegalOrder,
  closeLegalOrder,
  createLegalOrder,
  type LegalOrderChange,
  type LegalOrderEnd,
  type NewLegalOrder,
  setLegalSubject,
} from '../domain/staff/legal/orders.ts';
import {
  type LegalOrder,
  type LegalOrderItem,
  type LegalOrderQuery,
  listLegalOrders,
  readLegalOrder,
} from '../domain/staff/legal/read.ts';
import { readReport } from '../domain/staff/legal/report.ts';
import { recordCommand } from '../domain/staff/perform.ts';
import { recordCommandOn } from '../domain/staff/target.ts';
import {
  LEGAL_LIMITS,
  LEGAL_ORDER_KINDS,
  LEGAL_RESULTS,
  LEGAL_STATES,
  type LegalOrderKind,
  REPORT_FIGURES,
} from '../spec/staff/legal.ts';
import type { OperatorContext } from './context.ts';
import type { Output } from './format/output.ts';
import { formatMoreHint } from './format/table.ts';
import { parsePositiveInt } from './options.ts';
import { readBounded } from './read-file.ts';

const LIMIT = 100;
const ID = 'Id of the order, lgl_…';
const DAY = 'a day such as 2026-12-01, or a time';

export function addLegal(program: Command, context: OperatorContext): void {
  const legal = program.command('legal').description('Keep the orders of authorities and their documents');
  addReads(legal, context);
  addRecords(legal, context);
  addSubjectChange(legal, context);
  addDocuments(legal, context);
  addReport(legal, context);
}

function addReads(legal: Command, { resources, terminal }: OperatorContext): void {
  legal
    .command('list')
    .addOption(new Option('--state <word>', 'Only this state').choices(LEGAL_STATES))
    .addOption(new Option('--kind <word>', 'Only this kind').choices(LEGAL_ORDER_KINDS))
    .option('--customer <email>', 'Only orders about this customer')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List legal orders, newest first')
    .action(async (query: LegalOrderQuery) => {
      const { service } = await resources.service();
      const { orders, hasMore } = await listLegalOrders(service, query);
      terminal.table(['order', 'state', 'kind', 'due (UTC)', 'customer', 'reference'], orders.map(columns));
      if (hasMore) terminal.err(formatMoreHint(orders.length, 'order'));
    });
  legal
    .command('show')
    .argument('<id>', ID)
    .description('Show a legal order with its documents and acts')
    .action(async (id: string) => {
      const { service } = await resources.service();
      printOrder(terminal, await readLegalOrder(service, requireOrderId(id)));
    });
}

function columns(row: LegalOrderItem): string[] {
  const due = row.due_at?.slice(0, 16).replace('T', ' ') ?? '';
  const customer = row.customer_email ?? row.customer ?? '';
  return [row.id, row.overdue ? 'overdue' : row.state, row.kind, due, customer, row.reference];
}

function printOrder(terminal: Output, order: LegalOrder): void {
  const { documents, acts, object: _, note, ...facts } = order;
  terminal.facts(Object.entries(facts).map(([name, value]) => [name, value === null ? null : String(value)]));
  for (const line of note === '' ? [] : ['', ...note.split('\n')]) terminal.out(line);
  const files = documents.map((row) => [row.id, row.type, String(row.size_bytes), row.name]);
  if (files.length > 0) terminal.table(['document', 'type', 'bytes', 'name'], files);
  const done = acts.map((row) => [row.created_at, row.operation, row.target ?? '', row.result]);
  if (done.length > 0) terminal.table(['time', 'act', 'target', 'result'], done);
  terminal.document(order);
}

function addDates(command: Command): Command {
  return command
    .option('--received <time>', `When it arrived: ${DAY}`)
    .option('--due <time>', `Until when to answer: ${DAY}`)
    .option('--gag-until <time>', `Until when the customer must not know: ${DAY}`)
    .option('--note <text>', 'For owners');
}

function addSubject(command: Command): Command {
  return command
    .option('--customer <email>', 'The customer whom it names')
    .option('--server <id>', 'The server that it names: srv_… or a current address')
    .option('--address <address>', 'The IP address that it names; we look up who had it')
    .option('--at <time>', 'When the address was used');
}

type FieldOptions = Omit<LegalOrderChange, 'gag_until'> & { readonly gagUntil?: string };

/** The options as the fields of the verb. */
function toFields({ gagUntil, ...options }: FieldOptions): LegalOrderChange {
  return { ...options, ...(gagUntil !== undefined && { gag_until: gagUntil }) };
}

function addRecords(legal: Command, { resources, terminal }: OperatorContext): void {
  const create = legal
    .command('create')
    .addOption(new Option('--kind <word>', 'Kind').choices(LEGAL_ORDER_KINDS).makeOptionMandatory())
    .requiredOption('--authority <text>', 'Who issued it')
    .requiredOption('--reference <text>', 'As the authority calls it');
  addSubject(addDates(create))
    .description('Record a legal order')
    .action(
      async (options: FieldOptions & { kind: LegalOrderKind; authority: string; reference: string }) => {
        const { service } = await resources.service();
        const order: NewLegalOrder = { ...options, ...toFields(options) };
        const act = { operation: 'legal_orders.create', target: null } as const;
        const { id } = await recordCommand(service, act, () => createLegalOrder(service, order));
        terminal.out(`${id} is recorded`);
      },
    );
  addDates(
    legal
      .command('change')
      .argument('<id>', ID)
      .addOption(new Option('--kind <word>', 'Kind').choices(LEGAL_ORDER_KINDS))
      .option('--authority <text>', 'Who issued it')
      .option('--reference <text>', 'As the authority calls it'),
  )
    .description('Change the record of a legal order')
    .action(async (id: string, options: FieldOptions) => {
      const { service } = await resources.service();
      await recordCommandOn(service, 'legal_orders.change', { kind: 'legalOrder', name: id }, () =>
        changeLegalOrder(service, id, toFields(options)),
      );
      terminal.out(`${id} is changed`);
    });
  legal
    .command('close')
    .argument('<id>', ID)
    .addOption(new Option('--result <word>', 'Result').choices(LEGAL_RESULTS).makeOptionMandatory())
    .requiredOption('--note <text>', 'What was done, or why not')
    .option('--data-handed-out', 'Data of a customer was given to the authority')
    .description('Record the result of a legal order')
    .action(
      async (id: string, options: Omit<LegalOrderEnd, 'data_handed_out'> & { dataHandedOut?: true }) => {
        const { service } = await resources.service();
        const { result, note, dataHandedOut = false } = options;
        await recordCommandOn(service, 'legal_orders.close', { kind: 'legalOrder', name: id }, () =>
          closeLegalOrder(service, id, { result, note, data_handed_out: dataHandedOut }),
        );
        terminal.out(`${id} is closed: ${result}`);
      },
    );
}

interface SubjectOptions extends LegalScopeInput {
  readonly none?: true;
  readonly reason: string;
}

function addSubjectChange(legal: Command, { resources, terminal }: OperatorContext): void {
  addSubject(legal.command('subject').argument('<id>', ID))
    .option('--none', 'It no longer names anyone')
    .requiredOption('--reason <text>', 'Why, for the note of the order')
    .description('Change or remove the subject of a legal order')
    .action(async (id: string, { none: remove, reason: why, ...subject }: SubjectOptions) => {
      const { service } = await resources.service();
      const target = { kind: 'legalOrder', name: id } as const;
      await recordCommandOn(service, 'legal_orders.set_subject', target, () =>
        setLegalSubject(service, id, { ...subject, ...(remove && { remove }), why }),
      );
      terminal.out(`the subject of ${id} is ${remove ? 'removed' : 'changed'}`);
    });
}

function addDocuments(legal: Command, { resources, terminal }: OperatorContext): void {
  legal
    .command('attach')
    .argument('<id>', ID)
    .argument('<file>', 'A PDF, an image, or a plain text file')
    .description('Attach a document to a legal order')
    .action(async (id: string, file: string) => {
      const { service } = await resources.service();
      const content = await readBounded(file, LEGAL_LIMITS.documentMaxBytes);
      await recordCommandOn(service, 'legal_orders.attach', { kind: 'legalOrder', name: id }, () =>
        attachLegalDocument(service, id, { name: basename(file), content }),
      );
      terminal.out(`attached ${content.length} bytes to ${id}`);
    });
  legal
    .command('document')
    .argument('<id>', ID)
    .argument('<document>', 'Id of the document, lgd_…')
    .requiredOption('--to <path>', 'Where to write it')
    .description('Write a document of a legal order to disk')
    .action(async (id: string, document: string, { to }: { to: string }) => {
      const { service } = await resources.service();
      const { content, type } = await readLegalDocument(service, id, document);
      await writeFile(to, content, { flag: 'wx', mode: 0o600 });
      terminal.out(`wrote ${content.length} bytes of ${type} to ${to}`);
    });
}

function addReport(legal: Command, { resources, terminal }: OperatorContext): void {
  legal
    .command('report')
    .description('Show the transparency report: counts of orders by half-year')
    .action(async () => {
      const { service } = await resources.service();
      const report = await readReport(service);
      terminal.table(
        ['half-year', 'orders', ...Object.keys(REPORT_FIGURES).map((name) => name.replaceAll('_', ' '))],
        report.half_years.map(({ half, orders, figures }) => [
          ...[half, String(orders.at(-1)?.received ?? 0)],
          ...Object.values(figures).map(String),
        ]),
      );
      const state = report.published ? 'published' : 'not published';
      terminal.err(`the report is ${state}: see \`skerryd switch\``);
      terminal.document(report);
    });
}
