/** `mailings`: mail to sets of customers. */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import {
  createMailing,
  listMailings,
  type MailingObject,
  type MailingOrder,
  pauseMailing,
  previewMailing,
  readMailing,
  resumeMailing,
  stopMailing,
} from '../../domain/customers/talking/mailings.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { MAILING_KINDS, type MailingCriteria, type MailingKind } from '../../spec/staff/talking.ts';
import type { OperatorContext } from '../context.ts';
import { formatCount, formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';

const LIMIT = 100;
const ID = 'Id of the mailing, mlg_…';

export function addMailings(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const mailings = program.command('mailings').description('Mail a set of customers');
  mailings
    .command('list')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List mailings, newest first')
    .action(async (query: { readonly limit: number }) => {
      const { service } = await resources.service();
      const { mailings: rows, hasMore } = await listMailings(service, query);
      const cells = rows.map((row) => [row.id, row.state, row.kind, progressOf(row), row.to, row.subject]);
      terminal.table(['mailing', 'state', 'kind', 'sent', 'to', 'subject'], cells);
      terminal.document(rows);
      if (hasMore) terminal.err(formatMoreHint(rows.length, 'mailing'));
    });
  mailings
    .command('show')
    .argument('<id>', ID)
    .description('Show a mailing and how far it is')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const mailing = await readMailing(service, id);
      const { object: _, mail, ...facts } = mailing;
      terminal.facts(
        Object.entries(facts).map(([name, value]) => [name, value === null ? null : String(value)]),
      );
      terminal.out('');
      terminal.out(mail.text.trimEnd());
      terminal.document(mailing);
    });
  addWriting(mailings, context);
  addControls(mailings, context);
}

function addWriting(mailings: Command, { resources, terminal }: OperatorContext): void {
  withMailing(mailings.command('preview'))
    .description('Show who would get a mailing, and the mail; sends nothing')
    .action(async (subject: string, options: MailingOptions) => {
      const { service } = await resources.service();
      const preview = await previewMailing(service, await toOrder(subject, options));
      terminal.facts([
        ['to', preview.to],
        ['recipients', String(preview.recipients)],
        ['subject', preview.mail.subject],
      ]);
      terminal.out('');
      terminal.out(preview.mail.text.trimEnd());
      if (preview.first.length > 0) {
        terminal.out('');
        const rows = preview.first.map(({ id, email }) => [email, id]);
        terminal.table(['first customers', 'id'], rows);
      }
      terminal.document(preview);
    });
  withMailing(mailings.command('create'))
    .requiredOption('--reason <text>', 'For the staff log')
    .description('Mail a set of customers, as mailings preview shows it')
    .action(async (subject: string, { reason, ...options }: MailingOptions & { readonly reason: string }) => {
      const { service } = await resources.service();
      const order = await toOrder(subject, options);
      const act = { operation: 'mailings.create', target: null, reason } as const;
      const created = await recordCommand(service, act, () => createMailing(service, order));
      terminal.out(`${created.id}: began for ${formatCount(created.recipients, 'customer')}`);
      terminal.document(created);
    });
}

function addControls(mailings: Command, { resources, terminal }: OperatorContext): void {
  const controls = [
    ['pause', 'Pause a mailing', 'mailings.pause', pauseMailing],
    ['resume', 'Continue a paused mailing', 'mailings.resume', resumeMailing],
    ['stop', 'Stop a mailing for good', 'mailings.stop', stopMailing],
  ] as const;
  for (const [name, about, operation, verb] of controls) {
    mailings
      .command(name)
      .argument('<id>', ID)
      .description(about)
      .action(async (id: string) => {
        const { service } = await resources.service();
        const target = { kind: 'mailing', name: id } as const;
        const mailing = await recordCommandOn(service, operation, target, () => verb(service, id));
        terminal.out(`${id} is ${mailing.state}; ${progressOf(mailing)} sent`);
      });
  }
}

interface MailingOptions {
  readonly kind: MailingKind;
  readonly text?: string;
  readonly textFile?: string;
  readonly servers?: 'yes' | 'no';
  readonly region?: string;
  readonly host?: string;
  readonly plan?: string;
  readonly tag?: string;
  readonly balanceBelow?: string;
  readonly balanceAbove?: string;
  readonly frozen?: 'yes' | 'no';
  readonly confirmed?: 'yes' | 'no';
}

function withMailing(command: Command): Command {
  const yesNo = (flags: string, about: string) => new Option(flags, about).choices(['yes', 'no']);
  return command
    .argument('<subject>', 'One line')
    .addOption(
      new Option('--kind <kind>', 'A service notice for everyone, or news for those who want it')
        .choices(MAILING_KINDS)
        .makeOptionMandatory(),
    )
    .option('--text <text>', 'Plain text')
    .option('--text-file <path>', 'A file with the text')
    .addOption(yesNo('--servers <word>', 'Only customers with servers, or without'))
    .option('--region <region>', 'Only customers with a server in the region')
    .option('--host <host>', 'Only customers with a server on the host')
    .option('--plan <plan>', 'Only customers with a server of the plan')
    .option('--tag <tag>', 'Only customers with the tag')
    .option('--balance-below <usd>', 'Only customers with a lower balance')
    .option('--balance-above <usd>', 'Only customers with a higher balance')
    .addOption(yesNo('--frozen <word>', 'Only frozen accounts, or the others'))
    .addOption(yesNo('--confirmed <word>', 'Only confirmed email addresses, or the others'));
}

async function toOrder(subject: string, options: MailingOptions): Promise<MailingOrder> {
  const { kind, text, textFile, balanceBelow, balanceAbove, ...criteria } = options;
  if ((text === undefined) === (textFile === undefined))
    throw new OperatorError('give the text with --text or --text-file');
  const body = text ?? (await readText(textFile ?? ''));
  const balances: MailingCriteria = {
    ...(balanceBelow !== undefined && { balance_below_usd: balanceBelow }),
    ...(balanceAbove !== undefined && { balance_above_usd: balanceAbove }),
  };
  return { ...criteria, ...balances, kind, subject, text: body };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw new OperatorError(`the file ${path} cannot be read`);
  }
}

function progressOf({ sent, recipients }: MailingObject): string {
  return `${sent} of ${recipients}`;
}
