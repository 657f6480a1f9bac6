/** `webhooks list`, `webhooks pause`. */
import type { Command } from 'commander';
import { listWebhooksForOperator, pauseWebhook } from '../domain/webhooks/operator.ts';
import { formatSessionTime } from '../kernel/time.ts';
import type { OperatorContext } from './context.ts';

export function addWebhooks(program: Command, { resources, terminal }: OperatorContext): void {
  const webhooks = program.command('webhooks').description('Manage customers’ webhooks');
  webhooks
    .command('list')
    .argument('<email>', 'Email address of the customer')
    .description('List a customer’s webhooks, newest first')
    .action(async (email: string) => {
      const { service } = await resources.service();
      const rows = (await listWebhooksForOperator(service, email)).map(
        ({ id, active, url, events, createdAt }) => [
          id,
          active ? 'active' : 'paused',
          formatSessionTime(createdAt),
          events.join(','),
          url,
        ],
      );
      const heading = ['webhook', '', 'since (UTC)', 'events', 'URL'];
      terminal.table(heading, rows);
    });
  webhooks
    .command('pause')
    .argument('<id>', 'whk_…')
    .description('Pause a webhook and cancel its pending deliveries; the customer can reactivate it')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const changed = await pauseWebhook(service, id);
      terminal.out(`${id} is paused${changed ? '' : ' (unchanged)'}`);
    });
}
