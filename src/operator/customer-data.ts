/** `customers show`, `customers export`, `customers delete`: what is stored about a customer. */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { Command } from 'commander';
import { requireCustomer } from '../domain/customers/by-email.ts';
import { deleteCustomer } from '../domain/customers/deletion/start.ts';
import { exportCustomer } from '../domain/customers/export.ts';
import { formatId } from '../kernel/ids.ts';
import { formatCents } from '../kernel/money.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { formatSessionTime } from '../kernel/time.ts';
import { type CustomerOverview, readCustomerOverview } from '../store/customer-overview.ts';
import type { OperatorContext } from './context.ts';
import { formatCount } from './table.ts';

export function addCustomerData(customers: Command, context: OperatorContext): void {
  addShow(customers, context);
  addExport(customers, context);
  addDelete(customers, context);
}

function addShow(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('show')
    .argument('<email>')
    .description('print what there is to know of a customer first')
    .action(async (email: string) => {
      const { service } = await resources.service();
      const { id } = await requireCustomer(service.db, email);
      const overview = await readCustomerOverview(service.db, id);
      for (const [name, value] of overview ? overviewFacts(overview) : []) {
        terminal.out(`${name.padEnd(15)}${value}`);
      }
    });
}

function overviewFacts(row: CustomerOverview): [string, string][] {
  const formatSince = (time: Date | null, fallback: string) =>
    time ? `since ${formatSessionTime(time)} UTC` : fallback;
  const more = [
    row.suspended > 0n ? `, ${row.suspended} suspended` : '',
    row.held > 0n ? `, ${row.held} under a legal hold` : '',
  ];
  return [
    ['id', formatId('customer', row.id)],
    ['e-mail', row.email],
    ['confirmed', formatSince(row.email_confirmed_at, 'no')],
    ['OpenPGP key', row.has_openpgp_key ? 'yes' : 'no'],
    ['one-time codes', formatSince(row.totp_since, 'no')],
    ['customer', formatSince(row.created_at, '')],
    ['frozen', formatSince(row.frozen_at, 'no')],
    ['being deleted', formatSince(row.deleting_at, 'no')],
    ['balance', `${formatCents(row.balance_cents)} USD`],
    ['payments', `${row.payments} on their way or held`],
    ['servers', `${row.servers}${more.join('')}`],
    ['storage', `${formatCount(row.volumes, 'volume')}, ${formatCount(row.snapshots, 'snapshot')}`],
    ['access', `${formatCount(row.sessions, 'session')}, ${formatCount(row.tokens, 'API token')}`],
  ];
}

function addExport(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('export')
    .argument('<email>')
    .option('--out <file>', 'write to this file, which must not exist yet; only you may read it')
    .description('write all that is stored about a customer as one JSON document')
    .action(async (email: string, { out }: { out?: string }) => {
      const { service } = await resources.service();
      // A name that is wrong leaves no file behind.
      await requireCustomer(service.db, email);
      if (out === undefined) {
        await exportCustomer(service, email, lineWriter(terminal.out));
        return;
      }
      const file = await createExportFile(out);
      try {
        await exportCustomer(service, email, async (text) => void (await file.write(text)));
        await file.sync();
      } catch (error) {
        // Half a document is none.
        await unlink(out);
        throw error;
      } finally {
        await file.close();
      }
      terminal.out(`written to ${out}`);
    });
}

/** Collects pieces into whole lines, as a terminal takes them. */
function lineWriter(writeLine: (line: string) => void): (text: string) => Promise<void> {
  let partialLine = '';
  return async (text) => {
    const lines = `${partialLine}${text}`.split('\n');
    partialLine = lines.pop() ?? '';
    for (const line of lines) writeLine(line);
  };
}

async function createExportFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new OperatorError(`${path} exists already; name another file`);
    throw new OperatorError(`${path} cannot be written (${code ?? 'unknown'})`);
  }
}

function addDelete(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('delete')
    .argument('<email>')
    .option('-y, --yes', 'do not ask')
    .option('--destroy-servers', 'destroy the servers that the customer has')
    .description('delete an account and all that is personal in it; the books stay under its bare id')
    .action(async (email: string, options: { yes?: true; destroyServers?: true }) => {
      const { service } = await resources.service();
      const { id } = await requireCustomer(service.db, email);
      const overview = await readCustomerOverview(service.db, id);
      if (!overview) throw new OperatorError('there is no customer with this e-mail address');
      if (overview.servers > 0n && !options.destroyServers) {
        throw new OperatorError(
          `the account has ${formatCount(overview.servers, 'server')}: say --destroy-servers to lose them with it`,
        );
      }
      if (!(options.yes ?? (await confirmDeletion(terminal, overview))))
        return terminal.out('nothing was deleted');
      const deletion = { destroyServers: options.destroyServers === true };
      const { completed, forfeitedCents } = await deleteCustomer(service, email, deletion);
      terminal.out(
        `${completed ? 'deleted' : 'being deleted: what the account has is removed first, by the running service'}; ` +
          `forfeited: ${formatCents(forfeitedCents)} USD`,
      );
    });
}

async function confirmDeletion(
  terminal: OperatorContext['terminal'],
  row: CustomerOverview,
): Promise<boolean> {
  if (!terminal.ask) throw new OperatorError('nothing was deleted: say --yes to delete the account');
  const lost = `${formatCount(row.servers, 'server')} and ${formatCents(row.balance_cents)} USD`;
  return await terminal.ask(`Delete ${row.email} with ${lost} for ever?`);
}
