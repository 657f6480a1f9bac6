/** `credit`, and `customers list`, `search`, `freeze`, `unfreeze`, `totp-off`. */
import type { Command } from 'commander';
import { type CustomerQuery, listCustomersForOperator } from '../../domain/customers/find.ts';
import { creditCustomer, freezeCustomer } from '../../domain/customers/operator.ts';
import { disableTotpByOperator } from '../../domain/customers/totp.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { formatCents } from '../../kernel/money.ts';
import type { OperatorContext } from '../context.ts';
import { formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';
import { addCustomerData } from './data.ts';

export function addCustomers(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  program
    .command('credit')
    .argument('<email>')
    .argument('<amount>', 'US dollars, such as 25.50')
    .requiredOption('--reason <text>', 'Shown to the customer in the ledger')
    .description('Add to a customer’s balance; every call credits the amount again')
    .action(async (email: string, amountUsd: string, { reason }: { reason: string }) => {
      const { service } = await resources.service();
      const { amountCents, balanceAfterCents } = await recordCommandOn(
        service,
        'customers.credit',
        { kind: 'customer', name: email, reason },
        () => creditCustomer(service, { email, amountUsd, reason }),
      );
      terminal.out(
        `credited ${formatCents(amountCents)} USD; the balance is ${formatCents(balanceAfterCents)} USD`,
      );
    });
  const customers = program.command('customers').description('Manage customer accounts');
  addLists(customers, context);
  for (const [verb, frozen] of [
    ['freeze', true],
    ['unfreeze', false],
  ] as const) {
    customers
      .command(verb)
      .argument('<email>', 'Email address, or cus_…')
      .description(frozen ? 'Make an account read-only' : 'Lift the freeze of an account')
      .action(async (email: string) => {
        const { service } = await resources.service();
        const operation = frozen ? 'customers.freeze' : 'customers.unfreeze';
        const changed = await recordCommandOn(service, operation, { kind: 'customer', name: email }, () =>
          freezeCustomer(service, email, frozen),
        );
        terminal.out(`the account is ${frozen ? 'frozen' : 'not frozen'}${changed ? '' : ' (unchanged)'}`);
      });
  }
  customers
    .command('totp-off')
    .argument('<email>')
    .description('Turn off one-time codes for a customer who lost both phone and recovery code')
    .action(async (email: string) => {
      const { service } = await resources.service();
      const target = { kind: 'customer', name: email } as const;
      const changed = await recordCommandOn(service, 'customers.disable_totp', target, () =>
        disableTotpByOperator(service, email),
      );
      terminal.out(`one-time codes are off${changed ? '; the customer is notified' : ' (unchanged)'}`);
    });
  addCustomerData(customers, context);
}

const LIMIT = 100;

function addLists(customers: Command, { resources, terminal }: OperatorContext): void {
  const print = async (query: CustomerQuery) => {
    const { service } = await resources.service();
    const found = await listCustomersForOperator(service, query);
    const rows = found.customers.map((row) => [
      row.id,
      row.email,
      `${row.balance_usd.toFixed(2)} USD`,
      String(row.servers),
      row.created_at.slice(0, 10),
      [row.frozen && 'frozen', row.deleting && 'being deleted'].filter(Boolean).join(', '),
    ]);
    terminal.table(['customer', 'email', 'balance', 'servers', 'since', ''], rows);
    terminal.document(found.customers);
    if (found.hasMore) terminal.err(formatMoreHint(rows.length, 'customer'));
  };
  customers
    .command('list')
    .option('--frozen', 'Only frozen accounts')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List customers, newest first')
    .action(print);
  customers
    .command('search')
    .argument('<text>', 'The beginning of an email address, an id, an IP address, an order_ref, or a txid')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('Find customers by anything they may mention')
    .action((search: string, { limit }: { limit: number }) => print({ search, limit }));
}
