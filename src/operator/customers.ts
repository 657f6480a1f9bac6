/** `credit`, `customers freeze`, `customers unfreeze`, `customers totp-off`; the rest of `customers` is in customer-data.ts. */
import type { Command } from 'commander';
import { creditCustomer } from '../domain/customers/credit.ts';
import { freezeCustomer } from '../domain/customers/freeze.ts';
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
    .requiredOption('--reason <text>', 'the customer reads it in the ledger')
    .description('add to a customer’s balance; each call books anew')
    .action(async (email: string, amountUsd: string, { reason }: { reason: string }) => {
      const { service } = await resources.service();
      const { amountCents, balanceAfterCents } = await creditCustomer(service, { email, amountUsd, reason });
      terminal.out(
        `credited ${formatCents(amountCents)} USD; the balance is ${formatCents(balanceAfterCents)} USD`,
      );
    });
  const customers = program.command('customers').description('what the operator may do to an account');
  for (const [verb, frozen] of [
    ['freeze', true],
    ['unfreeze', false],
  ] as const) {
    customers
      .command(verb)
      .argument('<email>')
      .description(frozen ? 'let a customer read but change nothing' : 'let a customer change things again')
      .action(async (email: string) => {
        const { service } = await resources.service();
        const changed = await freezeCustomer(service, email, frozen);
        terminal.out(`the account is ${frozen ? 'frozen' : 'not frozen'}${changed ? '' : ' (as before)'}`);
      });
  }
  customers
    .command('totp-off')
    .argument('<email>')
    .description('let a customer who lost phone and recovery code sign in without a one-time code')
    .action(async (email: string) => {
      const { service } = await resources.service();
      const changed = await disableTotpByOperator(service, email);
      terminal.out(`no one-time code is asked for${changed ? '; the customer is mailed' : ' (as before)'}`);
    });
  addCustomerData(customers, context);
}
