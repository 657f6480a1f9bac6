/** Power on, shut down, and restart. */
import type { Server, StreamedEvent } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { findServer } from '../../find.ts';
import { arg, flag } from '../../options.ts';
import { formatUsd } from '../../output/columns.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { WAIT_OPTIONS, waitWithProgress } from '../../terminal/wait.ts';
import { startAndWaitForEvent } from '../../wait/wait-for-event.ts';
import { SERVER_COLUMNS } from './columns.ts';
import { hasRestarted, isRestartEvent } from './restart-check.ts';
import { waitForServer } from './wait-for-server.ts';

const ARGS = { server: arg('Name or ID', { completionKind: 'server' }) };

const start = command({
  name: 'server start',
  about: 'Power on a stopped server',
  help:
    'A server that was suspended because it was not renewed is charged for another cycle and resumes. The\n' +
    'command asks first and shows the latest price. A server that was suspended for insufficient balance\n' +
    'resumes automatically after a top-up.',
  operations: ['servers.start', 'servers.get', 'servers.list', 'audit_events.list'],
  args: ARGS,
  options: { yes: YES_OPTION, ...WAIT_OPTIONS },
  columns: SERVER_COLUMNS,
  example: 'skerry server start web-1',
  run: async (context, { server, yes, ...waits }) => {
    const { skerry, output, terminal } = context;
    const found = await findServer(skerry, server);
    const { id, name } = found;
    if (found.suspended_reason === 'not_renewed') await confirm(terminal, yes, describeCharge(found));
    const begun = await skerry.servers.start(id);
    const isDone = (seen: Server | null) => seen?.status === 'running';
    const show = (seen: Server) => output.showRow(seen, SERVER_COLUMNS);
    const goal = { isDone, operation: 'start' } as const;
    show(
      await waitWithProgress(
        context,
        waits,
        name,
        begun,
        (wait) => waitForServer(skerry, begun, goal, wait),
        show,
      ),
    );
  },
});

/**
 * The service charges the current price, which may have changed since the last cycle; the API does not show
 * it.
 */
function describeCharge({ name, id, billing_months, price_usd_cycle }: Server): string {
  const cycle = billing_months === 1 ? 'another month' : `another ${billing_months} months`;
  const price = `${formatUsd(price_usd_cycle)} USD (or the new price if it has changed)`;
  return `charge ${price} for ${cycle} of server ${name} (${id}), which was not renewed, and power it on`;
}

const stop = command({
  name: 'server stop',
  about: 'Shut down a server',
  help:
    'Asks the operating system to shut down, and powers the server off if it does not. The billing cycle\n' +
    'continues and renews: a stopped server costs as much as a running one.',
  operations: ['servers.stop', 'servers.get', 'servers.list', 'audit_events.list'],
  args: ARGS,
  options: WAIT_OPTIONS,
  columns: SERVER_COLUMNS,
  example: 'skerry server stop web-1',
  run: async (context, { server, ...waits }) => {
    const { skerry, output } = context;
    const { id, name } = await findServer(skerry, server);
    const begun = await skerry.servers.stop(id);
    const isDone = (seen: Server | null) => seen?.status === 'stopped';
    const show = (seen: Server) => output.showRow(seen, SERVER_COLUMNS);
    const goal = { isDone, operation: 'stop' } as const;
    show(
      await waitWithProgress(
        context,
        waits,
        name,
        begun,
        (wait) => waitForServer(skerry, begun, goal, wait),
        show,
      ),
    );
  },
});

const reboot = command({
  name: 'server reboot',
  about: 'Restart a server',
  help: 'Asks the operating system to shut down, and forces the restart if needed. Leaves a rescue system.',
  operations: ['servers.reboot', 'servers.get', 'servers.list', 'events.stream', 'audit_events.list'],
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

export const SERVER_POWER: readonly Command[] = [start, stop, reboot];
