/** Power on, shut down, and restart: into the server's own system or the rescue system. */
import type { Quote, RescuedServer, Server, Skerry, StreamedEvent } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { FIND_SERVER, findServer, nullIf } from '../../find.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, decimal, flag } from '../../options.ts';
import { type Column, formatUsd } from '../../output/format.ts';
import { confirm, YES_OPTION } from '../../terminal/terminal.ts';
import { startAndWaitForEvent, WAIT_OPTIONS, type WaitFlags } from '../../terminal/wait.ts';
import { SERVER_COLUMNS } from './show.ts';
import { failIfGivenUp, type Operation, waitAndShowServer, waitForServer } from './wait-for-server.ts';

const ARGS = { server: arg('Name or ID', { completionKind: 'server' }) };

const start = command({
  name: 'server start',
  about: 'Power on a stopped server',
  help:
    'A server that was suspended because it was not renewed is charged for another cycle and resumes. The\n' +
    'command asks first and shows the price. A server that was suspended for insufficient balance resumes\n' +
    'automatically after a top-up.',
  operations: ['servers.start', 'quotes.create', ...FIND_SERVER, 'audit_events.list'],
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
    await waitForStatus(context, waits, begun, 'running', 'start');
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

async function waitForStatus(
  context: Context,
  waits: WaitFlags,
  begun: Server,
  status: Server['status'],
  operation: Operation,
): Promise<void> {
  const goal = { isDone: (seen: Server | null) => seen?.status === status, operation };
  await waitAndShowServer(context, waits, begun, (wait) => waitForServer(context.skerry, begun, goal, wait));
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
  operations: ['servers.stop', ...FIND_SERVER, 'audit_events.list'],
  args: ARGS,
  options: WAIT_OPTIONS,
  columns: SERVER_COLUMNS,
  example: 'skerry server stop web-1',
  run: async (context, { server, ...waits }) => {
    const { skerry } = context;
    const { id } = await findServer(skerry, server);
    await waitForStatus(context, waits, await skerry.servers.stop(id), 'stopped', 'stop');
  },
});

const reboot = command({
  name: 'server reboot',
  about: 'Restart a server',
  help: 'Asks the operating system to shut down, and forces the restart if needed. Leaves a rescue system.',
  operations: ['servers.reboot', ...FIND_SERVER, 'events.stream', 'audit_events.list'],
  args: ARGS,
  options: { hard: flag('Force the restart without a shutdown of the operating system'), ...WAIT_OPTIONS },
  columns: SERVER_COLUMNS,
  example: 'skerry server reboot web-1 --hard',
  run: async (context, { server, hard, ...waits }) => {
    const { skerry, output } = context;
    const { id, name } = await findServer(skerry, server);
    let last: Server | undefined;
    const show = (seen: Server) => output.showRow(seen, SERVER_COLUMNS);
    const begun = await startAndWaitForEvent(context, waits, name, {
      activity: 'rebooting',
      show,
      start: () => skerry.servers.reboot(id, hard ? { hard } : {}),
      isEndEvent: (event: StreamedEvent) => {
        const isEnd = isRestartEvent(event, id);
        if (isEnd) last = event.data.server;
        return isEnd;
      },
      checkDone: (before) => hasRestarted(skerry, before, 'reboot'),
    });
    show(last ?? begun);
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
  operations: ['servers.rescue', ...FIND_SERVER, 'events.stream', 'audit_events.list'],
  args: ARGS,
  options: WAIT_OPTIONS,
  columns: RESCUE_COLUMNS,
  example: 'skerry server rescue web-1',
  run: async (context, { server, ...waits }) => {
    const { skerry, terminal, output } = context;
    const { id, name } = await findServer(skerry, server);
    await startAndWaitForEvent(context, waits, name, {
      activity: 'booting the rescue system',
      start: async () => {
        const rescued = await skerry.servers.rescue(id);
        // Print the password right away, in case the wait is interrupted.
        output.show(rescued, RESCUE_COLUMNS);
        terminal.warn('skerry: the password is shown only once; the next restart leaves the rescue system');
        return rescued;
      },
      isEndEvent: (event) => isRestartEvent(event, id),
      checkDone: (before) => hasRestarted(skerry, before, 'rescue'),
    });
    if (!waits.noWait) terminal.note(`Server ${name} is running the rescue system.`);
  },
});

export const SERVER_POWER: readonly Command[] = [start, stop, reboot, rescue];

function isRestartEvent({ type, data }: StreamedEvent, id: string): boolean {
  return type === 'server.rebooted' && data.server?.id === id;
}

/** Works without events: an operation changes `updated_at` even if the status stays the same. */
async function hasRestarted(
  skerry: Skerry,
  before: Server,
  operation: 'reboot' | 'rescue',
): Promise<boolean> {
  const seen = await nullIf('not_found', skerry.servers.get(before.id));
  if (seen === null) throw new Failure('failed', `${before.name} was deleted`);
  if (seen.status !== 'running') throw new Failure('failed', `${before.name} is ${seen.status}, not running`);
  await failIfGivenUp(skerry, seen, operation);
  return seen.updated_at !== before.updated_at;
}
