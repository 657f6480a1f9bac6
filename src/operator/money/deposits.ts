/** `deposits list`: the payments of all customers. */
import { type Command, Option } from 'commander';
import { toDepositObject } from '../../domain/staff/topups.ts';
import { type DepositQuery, listDepositsForOperator } from '../../domain/topups/operator.ts';
import { COIN_CODES } from '../../spec/coins.ts';
import { DEPOSIT_OUTCOMES, DEPOSIT_STATES } from '../../spec/staff/payments.ts';
import type { OperatorContext } from '../context.ts';
import { formatMoreHint } from '../format/table.ts';
import { parsePositiveInt } from '../options.ts';

const LIMIT = 100;
const HEADING = ['paid', 'result', 'state', 'confirmations', 'order_ref', 'customer', 'seen', 'transaction'];

export function addDeposits(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('deposits')
    .description('List payments')
    .command('list')
    .addOption(new Option('--outcome <word>', 'Only payments with this result').choices(DEPOSIT_OUTCOMES))
    .addOption(new Option('--state <word>', 'Only this state on the chain').choices(DEPOSIT_STATES))
    .addOption(new Option('--coin <code>', 'Only this coin').choices(COIN_CODES))
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List the payments of all customers, newest first')
    .action(async (query: DepositQuery) => {
      const { service } = await resources.service();
      const { deposits, more } = await listDepositsForOperator(service, query);
      const objects = deposits.map(toDepositObject);
      const rows = objects.map((row) => [
        `${row.amount} ${row.coin}`,
        row.outcome,
        row.agreed ? row.state : `${row.state}, disputed`,
        String(row.confirmations),
        row.order_ref,
        row.customer,
        row.first_seen_at,
        row.txid,
      ]);
      terminal.table(HEADING, rows);
      terminal.document(objects);
      if (more) terminal.err(formatMoreHint(deposits.length, 'payment'));
    });
}
