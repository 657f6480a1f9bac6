/** `recover`: raises the numbers of a restored database, and ends its recovery. */
import type { Command } from 'commander';
import { recordCommand } from '../../domain/staff/perform.ts';
import { endRecovery, type RecoveredCoin, recoverNumbers } from '../../domain/topups/recovery.ts';
import { type OperatorContext, ProblemsFound } from '../context.ts';
import type { Output } from '../format/output.ts';
import { formatCount } from '../format/table.ts';
import { parseNonNegativeInt } from '../options.ts';

const NEXT_STEPS =
  'orders and billing by date are still off: compare machines and payments first ' +
  '(docs/operators/backup.md), then run skerryd switch renewals on, and skerryd switch deploys on';

export function addRecover(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('recover')
    .description('After restoring the database from a backup: never issue the addresses given out since')
    .option(
      '--skip <count>',
      'Without any address marks: how many addresses of each coin to skip',
      parseNonNegativeInt,
    )
    .action(async ({ skip }: { readonly skip?: number }) => {
      const { service } = await resources.service();
      const { coins, ended } = await recordCommand(
        service,
        { operation: 'coins.recover', target: null },
        async () => {
          const raised = await recoverNumbers(service);
          // Before the end, which may ask for --skip: a repetition finds nothing to raise.
          if (raised.length > 0) report(raised, terminal);
          return { coins: raised, ended: await endRecovery(service, { skip }) };
        },
      );
      if (coins.length === 0 && ended === null) {
        terminal.out('the database is not behind its address marks: nothing to recover');
        return;
      }
      const incomplete = coins.filter(({ missing }) => missing > 0n);
      for (const { coin, missing } of incomplete) {
        const lacking = formatCount(Number(missing), 'address', 'addresses');
        terminal.err(
          `skerryd: the pool of ${coin} lacks ${lacking} imported after the backup: import the same files ` +
            'again with `skerryd chain import`, then run `skerryd recover`',
        );
      }
      if (incomplete.length > 0) throw new ProblemsFound();
      for (const [coin, count] of ended?.skipped ?? [])
        terminal.out(`${coin}: ${formatCount(count, 'address', 'addresses')} skipped`);
      terminal.out('the recovery is complete: the service accepts changes again');
      if (ended !== null) terminal.out(NEXT_STEPS);
    });
}

function report(coins: readonly RecoveredCoin[], terminal: Output): void {
  const rows = coins.map((row) => [
    row.coin,
    String(row.next_index),
    String(row.marked_index),
    String(row.marked_given - row.given),
    String(row.taken),
  ]);
  terminal.table(['coin', 'index', 'raised to', 'unknown addresses', 'skipped in the pool'], rows);
  for (const { coin, next_index: from, marked_index: to } of coins) {
    if (to <= from) continue;
    terminal.out(
      `payments to unknown addresses: skerryd chain addresses ${coin} --from ${from} --count ${to - from}`,
    );
  }
}
