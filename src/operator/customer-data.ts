/** `customers show`, `customers export`, `customers delete`: what is stored about a customer. */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { Command } from 'commander';
import { requireCustomer } from '../domain/customers/by-email.ts';
import { deleteCustomer } from '../domain/customers/deletion/begin.ts';
import { exportCustomer } from '../domain/customers/export.ts';
import { showId } from '../kernel/ids.ts';
import { centsText } from '../kernel/money.ts';
import { Refusal } from '../kernel/refusal.ts';
import { sessionTime } from '../kernel/time.ts';
import { type CustomerOverview, readOverview } from '../store/customer-overview.ts';
import type { OperatorContext } from './context.ts';
import { counted } from './table.ts';

export function addCustomerData(customers: Command, context: OperatorContext): void {
  addShow(customers, context);
  addExport(customers, context);
  addDelete(customers, context);
}

function addShow(customers: Command, { doors, terminal }: OperatorContext): void {
  customers
    .command('show')
    .argument('<email>')
    .description('print what there is to know of a customer first')
    .action(async (email: string) => {
      const { service } = await doors.service();
      const { id } = await requireCustomer(service.db, email);
      const overview = await readOverview(service.db, id);
      for (const [name, value] of overview ? facts(overview) : []) {
        terminal.out(`${name.padEnd(15)}${value}`);
      }
    });
}

function facts(row: CustomerOverview): [string, string][] {
  const since = (time: Date | null, no: string) => (time ? `since ${sessionTime(time)} UTC` : no);
  const more = [
    row.suspended > 0n ? `, ${row.suspended} suspended` : '',
    row.held > 0n ? `, ${row.held} under a legal hold` : '',
  ];
  return [
    ['id', showId('customer', row.id)],
    ['e-mail', row.email],
    ['confirmed', since(row.email_confirmed_at, 'no')],
    ['OpenPGP key', row.has_openpgp_key ? 'yes' : 'no'],
    ['one-time codes', since(row.totp_since, 'no')],
    ['customer', since(row.created_at, '')],
    ['frozen', since(row.frozen_at, 'no')],
    ['being deleted', since(row.deleting_at, 'no')],
    ['balance', `${centsText(row.balance_cents)} USD`],
    ['payments', `${row.payments} on their way or held`],
    ['servers', `${row.servers}${more.join('')}`],
    ['storage', `${counted(row.volumes, 'volume')}, ${counted(row.snapshots, 'snapshot')}`],
    ['access', `${counted(row.sessions, 'session')}, ${counted(row.tokens, 'API token')}`],
  ];
}

function addExport(customers: Command, { doors, terminal }: OperatorContext): void {
  customers
    .command('export')
    .argument('<email>')
    .option('--out <file>', 'write to this file, which must not exist yet; only you may read it')
    .description('write all that is stored about a customer as one JSON document')
    .action(async (email: string, { out }: { out?: string }) => {
      const { service } = await doors.service();
      // A name that is wrong leaves no file behind.
      await requireCustomer(service.db, email);
      if (out === undefined) {
        await exportCustomer(service, email, inLines(terminal.out));
        return;
      }
      const file = await create(out);
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
function inLines(say: (line: string) => void): (text: string) => Promise<void> {
  let begun = '';
  return async (text) => {
    const lines = `${begun}${text}`.split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) say(line);
  };
}

async function create(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new Refusal(`${path} exists already; name another file`);
    throw new Refusal(`${path} cannot be written (${code ?? 'unknown'})`);
  }
}

function addDelete(customers: Command, { doors, terminal }: OperatorContext): void {
  customers
    .command('delete')
    .argument('<email>')
    .option('-y, --yes', 'do not ask')
    .option('--destroy-servers', 'destroy the servers that the customer has')
    .description('delete an account and all that is personal in it; the books stay under its bare id')
    .action(async (email: string, options: { yes?: true; destroyServers?: true }) => {
      const { service } = await doors.service();
      const { id } = await requireCustomer(service.db, email);
      const overview = await readOverview(service.db, id);
      if (!overview) throw new Refusal('there is no customer with this e-mail address');
      if (overview.servers > 0n && !options.destroyServers) {
        throw new Refusal(
          `the account has ${counted(overview.servers, 'server')}: say --destroy-servers to lose them with it`,
        );
      }
      if (!(options.yes ?? (await agreed(terminal, overview)))) return terminal.out('nothing was deleted');
      const wish = { destroyServers: options.destroyServers === true };
      const { completed, forfeitedCents } = await deleteCustomer(service, email, wish);
      terminal.out(
        `${completed ? 'deleted' : 'being deleted: what the account has is removed first, by the running service'}; ` +
          `forfeited: ${centsText(forfeitedCents)} USD`,
      );
    });
}

async function agreed(terminal: OperatorContext['terminal'], row: CustomerOverview): Promise<boolean> {
  if (!terminal.ask) throw new Refusal('nothing was deleted: say --yes to delete the account');
  const lost = `${counted(row.servers, 'server')} and ${centsText(row.balance_cents)} USD`;
  return await terminal.ask(`Delete ${row.email} with ${lost} for ever?`);
}
