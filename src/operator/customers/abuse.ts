/** `abuse`: reports of abuse. */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { Service } from '../../domain/context.ts';
import { blockReportedMail, closeAbuseReport, suspendReportedServer } from '../../domain/staff/abuse/acts.ts';
import { readOffenders } from '../../domain/staff/abuse/counts.ts';
import { forwardAbuseReport } from '../../domain/staff/abuse/forward.ts';
import {
  type AbuseQuery,
  type AbuseReport,
  listReportsForStaff,
  readAbuseReport,
} from '../../domain/staff/abuse/read.ts';
import {
  changeAbuseReport,
  createAbuseReport,
  matchAbuseReport,
  type NewAbuseReport,
} from '../../domain/staff/abuse/record.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import {
  ABUSE_CLOSINGS,
  ABUSE_KINDS,
  ABUSE_LIMITS,
  type ABUSE_OPERATIONS,
  ABUSE_STATES,
  type AbuseClosing,
  type AbuseKind,
} from '../../spec/staff/abuse.ts';
import type { OperatorContext } from '../context.ts';
import type { Output } from '../format/output.ts';
import { formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';
import { addAbuseFiles } from './abuse-files.ts';
import { addAbuseTemplates } from './abuse-templates.ts';

const LIMIT = 100;
const ID = 'Id of the report, abr_…';
const TIME = 'Such as 2026-12-01T22:00:00Z';
const LATE = 'Freeze the server when the deadline passes without an answer';
const HEADING = ['report', 'kind', 'state', 'server', 'customer', 'deadline (UTC)'];

export function addAbuse(program: Command, context: OperatorContext): void {
  const abuse = program.command('abuse').description('Work on reports of abuse');
  addQueries(abuse, context);
  addRecords(abuse, context);
  addForward(abuse, context);
  addAbuseFiles(abuse, context);
  addActs(abuse, context);
  addAbuseTemplates(program.command('abuse-templates').description('Manage the texts about abuse'), context);
}

function addQueries(abuse: Command, { resources, terminal }: OperatorContext): void {
  abuse
    .command('list')
    .addOption(new Option('--state <word>', 'Only this state').choices(ABUSE_STATES))
    .addOption(new Option('--kind <word>', 'Only this kind').choices(ABUSE_KINDS))
    .option('--overdue', 'Only those past their deadline')
    .option('--customer <email>', 'Only reports about servers of this customer')
    .option('--server <id>', 'Only reports about this server, srv_…')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List reports of abuse, newest first')
    .action(async (query: AbuseQuery) => {
      const { service } = await resources.service();
      const { reports, hasMore } = await listReportsForStaff(service, query);
      terminal.table(HEADING, reports.map(reportColumns));
      terminal.document(reports);
      if (hasMore) terminal.err(formatMoreHint(reports.length, 'report'));
    });
  abuse
    .command('show')
    .argument('<id>', ID)
    .description('Show a report of abuse')
    .action(async (id: string) => {
      const { service } = await resources.service();
      printReport(terminal, await readAbuseReport(service, id));
    });
  abuse
    .command('offenders')
    .description(`List customers by their reports of the last ${ABUSE_LIMITS.countedDays} days`)
    .action(async () => {
      const { service } = await resources.service();
      const found = await readOffenders(service);
      const rows = found.map((row) => [row.customer, `${row.recent}`, `${row.open}`, row.latest_at]);
      terminal.table(['customer', 'reports', 'open', 'latest'], rows);
      terminal.document(found);
    });
}

interface ReportColumns extends Pick<AbuseReport, 'id' | 'kind' | 'server' | 'server_name' | 'customer'> {
  readonly state: string;
  readonly overdue: boolean;
  readonly match: string;
  readonly deadline: string;
}

function reportColumns(row: ReportColumns): string[] {
  const state = row.overdue ? `${row.state}, overdue` : row.state;
  const server = row.server_name ?? row.server ?? row.match.replace('_', ' ');
  const deadline = row.deadline.slice(0, 16).replace('T', ' ');
  return [row.id, row.kind, state, server, row.customer ?? '', deadline];
}

function printReport(terminal: Output, report: AbuseReport): void {
  const { object: _, evidence, proposal: __, files, ...facts } = report;
  terminal.facts(Object.entries(facts).map(([name, value]) => [name, value === null ? null : String(value)]));
  if (evidence !== null) {
    terminal.out('');
    for (const line of evidence.split('\n')) terminal.out(line);
  }
  const rows = files.map(({ id, type, size_bytes: size, name }) => [id, type, `${size}`, name]);
  if (rows.length > 0) terminal.table(['file', 'type', 'bytes', 'name'], rows);
  terminal.document(report);
}

/** Runs a change under its entry in the staff log, and prints the state. */
async function change(
  { resources, terminal }: OperatorContext,
  operation: keyof typeof ABUSE_OPERATIONS,
  id: string,
  verb: (service: Service) => Promise<AbuseReport>,
): Promise<void> {
  const { service } = await resources.service();
  const target = { kind: 'abuseReport', name: id } as const;
  const report = await recordCommandOn(service, operation, target, () => verb(service));
  terminal.out(`${report.id} is ${report.state}`);
  terminal.document(report);
}

interface RecordOptions {
  readonly kind: AbuseKind;
  readonly address: string;
  readonly time: string;
  readonly evidenceFile: string;
  readonly reporter?: string;
  readonly deadline?: string;
  readonly suspendWhenLate?: true;
}

async function toReport(options: Partial<RecordOptions>): Promise<Partial<NewAbuseReport>> {
  const { evidenceFile: file, suspendWhenLate, ...rest } = options;
  return {
    ...rest,
    ...(file !== undefined && { evidence: await readFile(file, 'utf8') }),
    ...(suspendWhenLate && { suspend_when_late: true }),
  };
}

function addRecords(abuse: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  abuse
    .command('create')
    .addOption(new Option('--kind <word>', 'Kind').choices(ABUSE_KINDS).makeOptionMandatory())
    .requiredOption('--address <address>', 'IPv4 or IPv6 address that the report names')
    .requiredOption('--time <time>', `When it happened: ${TIME}`)
    .requiredOption('--evidence-file <path>', 'Text file with what the report says')
    .option('--reporter <contact>', 'Who sent the report; the customer never sees it')
    .option('--deadline <time>', 'Default: that of the kind')
    .option('--suspend-when-late', LATE)
    .description('Record a report, and find the server that had the address')
    .action(async (options: RecordOptions) => {
      const { service } = await resources.service();
      const order = (await toReport(options)) as NewAbuseReport;
      const report = await recordCommand(service, { operation: 'abuse_reports.create', target: null }, () =>
        createAbuseReport(service, order),
      );
      printReport(terminal, report);
    });
  abuse
    .command('change')
    .argument('<id>', ID)
    .addOption(new Option('--kind <word>', 'Kind').choices(ABUSE_KINDS))
    .option('--address <address>', 'IPv4 or IPv6 address that the report names')
    .option('--time <time>', `When it happened: ${TIME}`)
    .option('--evidence-file <path>', 'Text file with what the report says')
    .option('--reporter <contact>', 'Who sent the report; empty: unknown')
    .option('--deadline <time>', TIME)
    .option('--suspend-when-late', LATE)
    .option('--no-suspend-when-late', 'Do not freeze the server when the deadline passes')
    .description('Change a report of abuse')
    .action(async (id: string, options: Partial<RecordOptions> & { suspendWhenLate?: boolean }) => {
      const { suspendWhenLate, ...rest } = options;
      const late = suspendWhenLate === undefined ? {} : { suspend_when_late: suspendWhenLate };
      const order = { ...(await toReport(rest)), ...late };
      await change(context, 'abuse_reports.change', id, (service) => changeAbuseReport(service, id, order));
    });
  abuse
    .command('match')
    .argument('<id>', ID)
    .description('Find again who had the address at that time')
    .action((id: string) =>
      change(context, 'abuse_reports.match', id, (service) => matchAbuseReport(service, id)),
    );
}

function addForward(abuse: Command, context: OperatorContext): void {
  abuse
    .command('forward')
    .argument('<id>', ID)
    .option('--text-file <path>', 'Text to the customer; default: the text of the kind')
    .option('--evidence-file <path>', 'Text file to share with the customer; default: none')
    .option('--share-files', 'The customer also gets the files of the report')
    .option('--deadline <time>', 'Default: that of the kind, from now')
    .option('--suspend-when-late', LATE)
    .description('Send a report to the customer, in a ticket')
    .action(async (id: string, options: ForwardOptions) => {
      const { textFile, evidenceFile, shareFiles, deadline, suspendWhenLate } = options;
      const order = {
        ...(textFile !== undefined && { text: await readFile(textFile, 'utf8') }),
        ...(evidenceFile !== undefined && { evidence: await readFile(evidenceFile, 'utf8') }),
        ...(shareFiles && { share_files: true }),
        ...(deadline !== undefined && { deadline }),
        ...(suspendWhenLate && { suspend_when_late: true }),
      };
      await change(context, 'abuse_reports.forward', id, (service) =>
        forwardAbuseReport(service, null, id, order),
      );
    });
}

interface ForwardOptions {
  readonly textFile?: string;
  readonly evidenceFile?: string;
  readonly shareFiles?: true;
  readonly deadline?: string;
  readonly suspendWhenLate?: true;
}

function addActs(abuse: Command, context: OperatorContext): void {
  abuse
    .command('suspend')
    .argument('<id>', ID)
    .requiredOption('--message <text>', 'What the customer reads')
    .description('Freeze the server of a report')
    .action((id: string, { message }: { message: string }) =>
      change(context, 'abuse_reports.suspend', id, (service) => suspendReportedServer(service, id, message)),
    );
  abuse
    .command('block-mail')
    .argument('<id>', ID)
    .description('Block outbound SMTP of the server of a report')
    .action((id: string) =>
      change(context, 'abuse_reports.block_mail', id, (service) => blockReportedMail(service, id)),
    );
  abuse
    .command('close')
    .argument('<id>', ID)
    .addOption(new Option('--result <word>', 'How it ended').choices(ABUSE_CLOSINGS).makeOptionMandatory())
    .description('Close a report of abuse')
    .action((id: string, { result }: { result: AbuseClosing }) =>
      change(context, 'abuse_reports.close', id, (service) => closeAbuseReport(service, id, result)),
    );
}
