/** On, off, and both after each other. */
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

const ARGS = { server: arg('Name or id.', { completionKind: 'server' }) };

const start = command({
  name: 'server start',
  about: 'Switch a stopped server on',
  help:
    'A server that is suspended because it was not to be renewed is charged another cycle, and resumes: that is\n' +
    'asked about first, with its last price. One that is suspended for want of balance resumes by itself after a top-up.',
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

/** A price that the operator has announced since is the one that is charged; the API does not tell it. */
function describeCharge({ name, id, billing_months, price_usd_cycle }: Server): string {
  const cycle = billing_months === 1 ? 'another month' : `another ${billing_months} months`;
  return `charge ${formatUsd(price_usd_cycle)} US dollars, or the price that was announced since, for ${cycle} of server ${name} (${id}), which was not renewed, and start it`;
}

const stop = command({
  name: 'server stop',
  about: 'Shut a server down',
  help:
    'The guest is asked to shut down, and switched off when it does not. The cycle goes on, and renews: what is stopped\n' +
    'costs as much as what runs.',
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
  help: 'The guest is asked to shut down, and switched off when it does not. A rescue system is left.',
  operations: ['servers.reboot', 'servers.get', 'servers.list', 'events.stream', 'audit_events.list'],
  args: ARGS,
  options: { hard: flag('Reset the machine at once, without asking the guest.'), ...WAIT_OPTIONS },
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
