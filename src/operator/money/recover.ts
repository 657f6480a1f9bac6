/** `recover`: raises the numbers of a restored database. */
import type { Command } from 'commander';
import { recordCommand } from '../../domain/staff/perform.ts';
import { type RecoveredCoin, recoverNumbers } from '../../domain/topups/recovery.ts';
import { type OperatorContext, ProblemsFound } from '../context.ts';
import type { Output } from '../format/output.ts';
import { formatCount } from '../format/table.ts';

export function addRecover(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('recover')
    .description('After restoring the database from a backup: never issue the addresses given out since')
    .action(async () => {
      const { service } = await resources.service();
      const coins = await recordCommand(service, { operation: 'coins.recover', target: null }, () =>
        recoverNumbers(service),
      );
      if (coins.length === 0) {
        terminal.out('the database is not behind its address marks: nothing to recover');
        return;
      }
      report(coins, terminal);
      const incomplete = coins.filter(({ missing }) => missing > 0n);
      for (const { coin, missing } of incomplete) {
        const lacking = formatCount(Number(missing), 'address', 'addresses');
        terminal.err(
          `skerryd: the pool of ${coin} lacks ${lacking} imported after the backup: import the same files ` +
            'again with `skerryd chain import`, then run `skerryd recover`',
        );
      }
      if (incomplete.length > 0) throw new ProblemsFound();
      terminal.out('the recovery is complete: the service accepts changes again');
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
