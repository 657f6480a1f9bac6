/** `topups held`, `topups release`, `topups refund`: payments that came while the kill-switch was on. */
import type { Command } from 'commander';
import { systemActor } from '../domain/record.ts';
import { refundTopup, releaseTopup } from '../domain/topups/held.ts';
import { centsText, formatUnits } from '../kernel/money.ts';
import { Refusal } from '../kernel/refusal.ts';
import { sessionTime } from '../kernel/time.ts';
import { coin } from '../spec/coins.ts';
import { findTopupIdByRef, listHeldTopups } from '../store/held-topups.ts';
import type { OperatorContext } from './context.ts';
import { table } from './table.ts';

export function addTopups(program: Command, { doors, terminal }: OperatorContext): void {
  const topups = program.command('topups').description('payments that the kill-switch held back');
  topups
    .command('held')
    .description('print top-ups with held payments')
    .action(async () => {
      const { service } = await doors.service();
      const rows = (await listHeldTopups(service.db)).map((row) => [
        row.order_ref,
        row.email,
        `${formatUnits(BigInt(row.held_units), coin(row.coin).decimals)} ${row.coin}`,
        sessionTime(row.created_at),
      ]);
      for (const line of table([['order_ref', 'customer', 'held', 'made (UTC)'], ...rows]))
        terminal.out(line);
    });
  for (const [verb, resolve, about] of [
    ['release', releaseTopup, 'credit the held payments of a top-up'],
    ['refund', refundTopup, 'note that held payments were sent back: they are never credited'],
  ] as const) {
    topups
      .command(verb)
      .argument('<order_ref>')
      .description(about)
      .action(async (orderRef: string) => {
        const { service } = await doors.service();
        const id = await findTopupIdByRef(service.db, orderRef);
        if (id === undefined) throw new Refusal('there is no top-up with this order_ref');
        const topup = await resolve(service, systemActor(service.clock.now()), id);
        terminal.out(
          `${verb === 'release' ? 'released' : 'refunded'}: the top-up is ${topup.status}, credited ${centsText(topup.credited_cents)} USD`,
        );
      });
  }
}
