/** Power on, shut down, and restart: into the server's own system or the rescue system. */
import type { Quote, RescuedServer, Server } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { FIND_SERVER, findServer } from '../../find.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, decimal, flag } from '../../options.ts';
import { type Column, formatUsd } from '../../output/format.ts';
import { confirm, YES_OPTION } from '../../terminal/terminal.ts';
import { WAIT_OPTIONS } from '../../terminal/wait.ts';
import { WAIT_OPERATIONS } from '../../terminal/wait-for-action.ts';
import { SERVER_COLUMNS } from './show.ts';
import { waitForServer } from './wait-for-server.ts';

const ARGS = { server: arg('Name or ID', { completionKind: 'server' }) };

const start = command({
  name: 'server start',
  about: 'Power on a stopped server',
  help:
    'A server that was suspended because it was not renewed is charged for another cycle and resumes. The\n' +
    'command asks first and shows the price. A server that was suspended for insufficient balance resumes\n' +
    'automatically after a top-up.',
  operations: ['servers.start', 'quotes.create', ...FIND_SERVER, ...WAIT_OPERATIONS],
  args: ARGS,
  options: {
    maxPrice: decimal('usd', 'Charge nothing if another cycle costs more, in US dollars', { min: 0 }),
    yes: YES_OPTION,
    ...WAIT_OPTIONS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server start web-1',
  run: async (context, { server, yes, maxPrice: max_price_usd, ...waits }) => {
    const { skerry } = context;
    const found = await findServer(skerry, server);
    const quote = await confirmCharge(context, found, yes);
    const begun = await skerry.servers.start(found.id, omitUndefined({ quote, max_price_usd }));
    await waitForServer(context, waits, begun, 'running');
  },
});

/** Returns the quote that was confirmed; undefined if nothing is charged. */
async function confirmCharge(
  { skerry, terminal }: Pick<Context, 'skerry' | 'terminal'>,
  server: Server,
  yes: boolean,
): Promise<string | undefined> {
  if (server.suspended_reason !== 'not_renewed') return undefined;
  const quote = await skerry.quotes.create({ operation: 'server.start', resource: server.id });
  await confirm(terminal, yes, describeCharge(server, quote));
  return quote.id;
}

function describeCharge({ name, id, billing_months }: Server, { due_now_usd }: Quote): string {
  const cycle = billing_months === 1 ? 'another month' : `another ${billing_months} months`;
  const price = `${formatUsd(due_now_usd ?? 0)} USD`;
  return `charge ${price} for ${cycle} of server ${name} (${id}), which was not renewed, and power it on`;
}

const stop = command({
  name: 'server stop',
  about: 'Shut down a server',
  help:
    'Asks the operating system to shut down, and powers the server off if it does not. The billing cycle\n' +
    'continues and renews: a stopped server costs as much as a running one.',
  operations: ['servers.stop', ...FIND_SERVER, ...WAIT_OPERATIONS],
  args: ARGS,
  options: WAIT_OPTIONS,
  columns: SERVER_COLUMNS,
  example: 'skerry server stop web-1',
  run: async (context, { server, ...waits }) => {
    const { skerry } = context;
    const { id } = await findServer(skerry, server);
    await waitForServer(context, waits, await skerry.servers.stop(id), 'stopped');
  },
});

const reboot = command({
  name: 'server reboot',
  about: 'Restart a server',
  help: 'Asks the operating system to shut down, and forces the restart if needed. Leaves a rescue system.',
  operations: ['servers.reboot', ...FIND_SERVER, ...WAIT_OPERATIONS],
  args: ARGS,
  options: { hard: flag('Force the restart without a shutdown of the operating system'), ...WAIT_OPTIONS },
  columns: SERVER_COLUMNS,
  example: 'skerry server reboot web-1 --hard',
  run: async (context, { server, hard, ...waits }) => {
    const { skerry } = context;
    const { id } = await findServer(skerry, server);
    const begun = await skerry.servers.reboot(id, hard ? { hard } : {});
    await waitForServer(context, waits, begun, 'restarted');
  },
});

const RESCUE_COLUMNS: readonly Column<RescuedServer>[] = [
  ...SERVER_COLUMNS.filter(({ name }) => ['id', 'name', 'ipv4', 'ipv6'].includes(name)),
  { name: 'username', value: ({ rescue }) => rescue.username },
  { name: 'password', value: ({ rescue }) => rescue.password },
];

const rescue = command({
  name: 'server rescue',
  about: 'Restart a server into the rescue system',
  help: 'The password is shown only once. The disk is unchanged; the next restart leaves the rescue system.',
  operations: ['servers.rescue', ...FIND_SERVER, ...WAIT_OPERATIONS],
  args: ARGS,
  options: WAIT_OPTIONS,
  columns: RESCUE_COLUMNS,
  example: 'skerry server rescue web-1',
  run: async (context, { server, ...waits }) => {
    const { skerry, terminal, output } = context;
    const { id, name } = await findServer(skerry, server);
    const rescued = await skerry.servers.rescue(id);
    // Print the password right away, in case the wait is interrupted.
    output.show(rescued, RESCUE_COLUMNS);
    terminal.warn('skerry: the password is shown only once; the next restart leaves the rescue system');
    await waitForServer(context, waits, rescued, 'restarted', () => {});
    if (!waits.noWait) terminal.note(`Server ${name} is running the rescue system.`);
  },
});

export const SERVER_POWER: readonly Command[] = [start, stop, reboot, rescue];
