/** `prices announce`, `prices list`, `prices cancel`: price changes for existing servers. */
import type { Command } from 'commander';
import { announcePrice, cancelPrice, listPrices } from '../../domain/billing/prices.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { formatCents } from '../../kernel/money.ts';
import { formatSessionTime } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { OperatorContext } from '../context.ts';
import { addList } from '../format/table.ts';

interface AnnounceOptions {
  readonly plan: string;
  readonly usdMonth: string;
  readonly at?: string;
}

export function addPrices(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const prices = program.command('prices').description('Change prices of existing servers');
  prices
    .command('announce')
    .requiredOption('--plan <id>', 'Plan, such as s1')
    .requiredOption('--usd-month <price>', 'US dollars per month, such as 12.50')
    .option(
      '--at <date>',
      `Effective date, ${LIMITS.priceNoticeDays} to ${LIMITS.priceNoticeMaxDays} days ahead; ` +
        'default: the earliest',
    )
    .description('Announce a renewal price and mail the customers')
    .action(async (order: AnnounceOptions) => {
      const { service } = await resources.service();
      const { id, effectiveAt, cents, catalogueCents } = await recordCommandOn(
        service,
        'plans.announce_price',
        { kind: 'plan', name: order.plan },
        () => announcePrice(service, order),
      );
      const from = `${formatSessionTime(effectiveAt)} UTC`;
      terminal.out(`${id}: ${order.plan} renews at ${formatCents(cents)} USD per month from ${from}`);
      if (catalogueCents !== cents) {
        terminal.out(
          `new orders still cost ${formatCents(catalogueCents)} USD: load a catalog to change that`,
        );
      }
    });
  addList(prices, context, {
    about: 'List announced prices, newest first',
    heading: ['price', 'plan', 'USD', 'catalog', 'announced (UTC)', 'from (UTC)', ''],
    read: async (service) =>
      (await listPrices(service)).map((row) => [
        row.shownId,
        row.plan_id,
        formatCents(row.price_cents_month),
        formatCents(row.catalogue_cents_month),
        formatSessionTime(row.announced_at),
        formatSessionTime(row.effective_at),
        row.state,
      ]),
  });
  prices
    .command('cancel')
    .argument('<id>', 'Price id from prices list: prc_…')
    .description('Cancel an announcement before it takes effect')
    .action(async (id: string) => {
      const { service } = await resources.service();
      await recordCommand(service, { operation: 'plans.cancel_price', target: null }, () =>
        cancelPrice(service, id),
      );
      terminal.out(`${id} is canceled`);
    });
}
