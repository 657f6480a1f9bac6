/** `credit`, `customers freeze`, `unfreeze`, `totp-off`; the rest of `customers` is in customer-data.ts. */
import type { Command } from 'commander';
import { creditCustomer, freezeCustomer } from '../domain/customers/operator.ts';
import { disableTotpByOperator } from '../domain/customers/totp.ts';
import { formatCents } from '../kernel/money.ts';
import type { OperatorContext } from './context.ts';
import { addCustomerData } from './customer-data.ts';

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
      const { amountCents, balanceAfterCents } = await creditCustomer(service, { email, amountUsd, reason });
      terminal.out(
        `credited ${formatCents(amountCents)} USD; the balance is ${formatCents(balanceAfterCents)} USD`,
      );
    });
  const customers = program.command('customers').description('Manage customer accounts');
  for (const [verb, frozen] of [
    ['freeze', true],
    ['unfreeze', false],
  ] as const) {
    customers
      .command(verb)
      .argument('<email>')
      .description(frozen ? 'Make an account read-only' : 'Lift the freeze of an account')
      .action(async (email: string) => {
        const { service } = await resources.service();
        const changed = await freezeCustomer(service, email, frozen);
        terminal.out(`the account is ${frozen ? 'frozen' : 'not frozen'}${changed ? '' : ' (unchanged)'}`);
      });
  }
  customers
    .command('totp-off')
    .argument('<email>')
    .description('Turn off one-time codes for a customer who lost both phone and recovery code')
    .action(async (email: string) => {
      const { service } = await resources.service();
      const changed = await disableTotpByOperator(service, email);
      terminal.out(`one-time codes are off${changed ? '; the customer is notified' : ' (unchanged)'}`);
    });
  addCustomerData(customers, context);
}
