/** Changes the plan of a server. */
import type { Quote, ResizeServer, Server } from '@skerry/sdk';
import { command } from '../../command.ts';
import { FIND_SERVER, findServer } from '../../find.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, decimal, flag, requiredText } from '../../options.ts';
import { formatTime, formatUsd } from '../../output/format.ts';
import { confirm, YES_OPTION } from '../../terminal/terminal.ts';
import { WAIT_OPTIONS } from '../../terminal/wait.ts';
import { WAIT_OPERATIONS } from '../../terminal/wait-for-action.ts';
import { SERVER_COLUMNS } from './show.ts';
import { waitForServer } from './wait-for-server.ts';

export const resize = command({
  name: 'server resize',
  about: 'Change the plan of a server (beta)',
  help:
    'Changes CPUs and memory. The end of the billing cycle stays: the rest of it is charged or comes\n' +
    'back to the balance. The command asks first and shows the price. A running server restarts, which\n' +
    'requires --restart. The disk keeps its size unless you use --resize-disk; it never shrinks.',
  operations: ['servers.resize', 'quotes.create', ...FIND_SERVER, ...WAIT_OPERATIONS],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {
    plan: requiredText('id', 'ID of the new plan', { completionKind: 'plan' }),
    resizeDisk: flag('Enlarge the disk to that of the plan'),
    restart: flag('Restart the server if it is running'),
    maxPrice: decimal('usd', 'Charge nothing if the resize costs more, in US dollars', { min: 0 }),
    yes: YES_OPTION,
    ...WAIT_OPTIONS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server resize web-1 --plan s2 --restart --yes',
  run: async (context, { server, plan, resizeDisk, restart, maxPrice, yes, ...waits }) => {
    const { skerry, terminal } = context;
    const found = await findServer(skerry, server);
    const params = { plan, resize_disk: resizeDisk, restart };
    const quote = await skerry.quotes.create({ operation: 'server.resize', resource: found.id, params });
    if (quote.refusal === null) await confirm(terminal, yes, describeResize(found, params, quote));
    const body = { ...params, quote: quote.id, ...omitUndefined({ max_price_usd: maxPrice }) };
    const begun = await skerry.servers.resize(found.id, body);
    await waitForServer(context, waits, begun, 'installed');
  },
});

function describeResize(
  { name, id, plan, status }: Server,
  wanted: ResizeServer,
  { due_now_usd, credit_usd, renews_usd, renews_at }: Quote,
): string {
  const restarts = status === 'running' && wanted.restart ? ' and restart it' : '';
  const price =
    credit_usd !== null && credit_usd > 0
      ? `${formatUsd(credit_usd)} USD come back to your balance`
      : `${formatUsd(due_now_usd ?? 0)} USD are charged now`;
  const renewal =
    renews_at === null ? '' : `, and ${formatUsd(renews_usd ?? 0)} USD on ${formatTime(renews_at)}`;
  return `resize server ${name} (${id}) from ${plan} to ${wanted.plan}${restarts}: ${price}${renewal}`;
}
