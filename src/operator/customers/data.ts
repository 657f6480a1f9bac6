/** `customers show`, `customers export`, `customers delete`: personal data of a customer. */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { Command } from 'commander';
import { deleteCustomer } from '../../domain/customers/deletion/start.ts';
import { exportCustomer } from '../../domain/customers/export.ts';
import { readCustomerForOperator } from '../../domain/customers/find.ts';
import { requireCustomer } from '../../domain/customers/operator.ts';
import { viewAccount } from '../../domain/customers/staff/view.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { formatId } from '../../kernel/ids.ts';
import { formatCents } from '../../kernel/money.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import { type CustomerOverview, readCustomerOverview } from '../../store/customers/customers.ts';
import { listPasskeys, type PasskeyRow } from '../../store/customers/passkeys.ts';
import type { OperatorContext } from '../context.ts';
import { formatCount } from '../format/table.ts';

export function addCustomerData(customers: Command, context: OperatorContext): void {
  addShow(customers, context);
  addView(customers, context);
  addExport(customers, context);
  addDelete(customers, context);
}

function addShow(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('show')
    .argument('<email>')
    .description('Show an overview of a customer')
    .action(async (email: string) => {
      const { service } = await resources.service();
      const { id } = await requireCustomer(service.db, email);
      const overview = await readCustomerOverview(service.db, id);
      const passkeys = await listPasskeys(service.db, id);
      terminal.facts(overview ? overviewFacts(overview, passkeys) : []);
      terminal.document(await readCustomerForOperator(service, email));
    });
}

function overviewFacts(row: CustomerOverview, passkeys: readonly PasskeyRow[]): [string, string][] {
  const formatSince = (time: Date | null, fallback: string) =>
    time ? `since ${formatSessionTime(time)} UTC` : fallback;
  const more = [
    row.suspended > 0n ? `, ${row.suspended} suspended` : '',
    row.held > 0n ? `, ${row.held} under a legal hold` : '',
  ];
  return [
    ['id', formatId('customer', row.id)],
    ['email', row.email],
    ['confirmed', formatSince(row.email_confirmed_at, 'no')],
    ['OpenPGP key', row.has_openpgp_key ? 'yes' : 'no'],
    ['one-time codes', formatSince(row.totp_since, 'no')],
    ...passkeyFacts(passkeys),
    ['customer', formatSince(row.created_at, '')],
    ['frozen', formatSince(row.frozen_at, 'no')],
    ['being deleted', formatSince(row.deleting_at, 'no')],
    ['balance', `${formatCents(row.balance_cents)} USD`],
    ['payments', `${row.payments} pending or withheld`],
    ['servers', `${row.servers}${more.join('')}`],
    ['storage', `${formatCount(row.volumes, 'volume')}, ${formatCount(row.snapshots, 'snapshot')}`],
    ['access', `${formatCount(row.sessions, 'session')}, ${formatCount(row.tokens, 'API token')}`],
  ];
}

/** Customers choose the names, without control characters. */
function passkeyFacts(passkeys: readonly PasskeyRow[]): [string, string][] {
  if (passkeys.length === 0) return [['passkeys', 'no']];
  return passkeys.map(({ name, created_at, last_used_at }) => {
    const used = last_used_at ? `last used ${formatSessionTime(last_used_at)} UTC` : 'never used';
    return ['passkey', `${name}, since ${formatSessionTime(created_at)} UTC, ${used}`];
  });
}

function addView(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('view')
    .argument('<email>', 'Email address, or cus_…')
    .option('--reason <text>', 'For the staff log')
    .description('Print an account as the customer’s API shows it; their audit log tells that you looked')
    .action(async (email: string, { reason = null }: { reason?: string | null }) => {
      const { service } = await resources.service();
      const target = { kind: 'customer', name: email, reason } as const;
      const viewed = await recordCommandOn(service, 'customers.view', target, () =>
        viewAccount(service, email),
      );
      for (const line of JSON.stringify(viewed, null, 2).split('\n')) terminal.out(line);
      terminal.document(viewed);
    });
}

function addExport(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('export')
    .argument('<email>')
    .option('--out <file>', 'Write to this new file, readable only by you')
    .description('Export all data stored about a customer as one JSON document')
    .action(async (email: string, { out }: { out?: string }) => {
      const { service } = await resources.service();
      // Check the customer first, so that a typo leaves no file behind.
      await requireCustomer(service.db, email);
      const target = { kind: 'customer', name: email } as const;
      const write = (to: (text: string) => Promise<void>) =>
        recordCommandOn(service, 'customers.export', target, () => exportCustomer(service, email, to));
      if (out === undefined) return await write(lineWriter(terminal.out));
      const file = await createExportFile(out);
      try {
        await write(async (text) => void (await file.write(text)));
        await file.sync();
      } catch (error) {
        // Half a document is useless.
        await unlink(out);
        throw error;
      } finally {
        await file.close();
      }
      terminal.out(`written to ${out}`);
    });
}

/** Collects chunks into whole lines for the terminal. */
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
    if (code === 'EEXIST') throw new OperatorError(`${path} already exists: choose another file`);
    throw new OperatorError(`cannot write ${path} (${code ?? 'unknown'})`);
  }
}

function addDelete(customers: Command, { resources, terminal }: OperatorContext): void {
  customers
    .command('delete')
    .argument('<email>')
    .option('-y, --yes', 'Skip the confirmation')
    .option('--destroy-servers', 'Also delete the customer’s servers')
    .description('Delete an account and its personal data; ledger entries remain under its id')
    .action(async (email: string, options: { yes?: true; destroyServers?: true }) => {
      const { service } = await resources.service();
      const { id } = await requireCustomer(service.db, email);
      const overview = await readCustomerOverview(service.db, id);
      if (!overview) throw new OperatorError('no customer has this email address');
      if (overview.servers > 0n && !options.destroyServers) {
        const servers = formatCount(overview.servers, 'server');
        throw new OperatorError(`the account has ${servers}: pass --destroy-servers to delete them too`);
      }
      if (!(options.yes ?? (await confirmDeletion(terminal, overview))))
        return terminal.out('nothing was deleted');
      const deletion = { destroyServers: options.destroyServers === true };
      const { completed, forfeitedCents } = await recordCommandOn(
        service,
        'customers.delete',
        { kind: 'customer', name: email },
        () => deleteCustomer(service, email, deletion),
      );
      const state = completed ? 'deleted' : 'deletion started: the service removes the resources first';
      terminal.out(`${state}; forfeited: ${formatCents(forfeitedCents)} USD`);
    });
}

async function confirmDeletion(
  terminal: OperatorContext['terminal'],
  row: CustomerOverview,
): Promise<boolean> {
  if (!terminal.ask) throw new OperatorError('nothing was deleted: pass --yes to delete the account');
  const lost = `${formatCount(row.servers, 'server')} and ${formatCents(row.balance_cents)} USD`;
  return await terminal.ask(`Permanently delete ${row.email} with ${lost}?`);
}
