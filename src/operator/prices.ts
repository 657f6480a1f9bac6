/** `prices announce`, `prices list`, `prices cancel`: other prices for servers that there are. */
import type { Command } from 'commander';
import { announcePrice, cancelPrice, listPrices } from '../domain/billing/prices.ts';
import { formatCents } from '../kernel/money.ts';
import { formatSessionTime } from '../kernel/time.ts';
import { LIMITS } from '../spec/limits.ts';
import type { OperatorContext } from './context.ts';
import { formatTable } from './table.ts';

interface AnnounceOptions {
  readonly plan: string;
  readonly usdMonth: string;
  readonly at?: string;
}

export function addPrices(program: Command, { resources, terminal }: OperatorContext): void {
  const prices = program.command('prices').description('other prices for servers that there are');
  prices
    .command('announce')
    .requiredOption('--plan <id>', 'such as s1')
    .requiredOption('--usd-month <price>', 'US dollars a month, such as 12.50')
    .option(
      '--at <date>',
      `from when on, ${LIMITS.priceNoticeDays} to ${LIMITS.priceNoticeMaxDays} days ahead; the earliest when left out`,
    )
    .description('announce a price for renewals; customers are told by mail')
    .action(async (order: AnnounceOptions) => {
      const { service } = await resources.service();
      const { id, effectiveAt, cents, catalogueCents } = await announcePrice(service, order);
      terminal.out(
        `${id}: ${order.plan} renews at ${formatCents(cents)} USD a month from ${formatSessionTime(effectiveAt)} UTC on`,
      );
      if (catalogueCents !== cents) {
        terminal.out(
          `new orders cost ${formatCents(catalogueCents)} as the catalogue says: load a catalogue to change that`,
        );
      }
    });
  prices
    .command('list')
    .description('print announced prices, newest first')
    .action(async () => {
      const { service } = await resources.service();
      const rows = (await listPrices(service)).map((row) => [
        row.shownId,
        row.plan_id,
        formatCents(row.price_cents_month),
        formatCents(row.catalogue_cents_month),
        formatSessionTime(row.announced_at),
        formatSessionTime(row.effective_at),
        row.state,
      ]);
      const heading = ['price', 'plan', 'USD', 'catalogue', 'announced (UTC)', 'from (UTC)', ''];
      for (const line of formatTable([heading, ...rows])) terminal.out(line);
    });
  prices
    .command('cancel')
    .argument('<id>', 'as prices list shows it: prc_…')
    .description('take an announcement back before it counts')
    .action(async (id: string) => {
      const { service } = await resources.service();
      await cancelPrice(service, id);
      terminal.out(`${id} is cancelled`);
    });
}
