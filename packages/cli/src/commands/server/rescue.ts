import type { RescuedServer } from '@skerry/sdk';
import { command } from '../../command.ts';
import { findServer } from '../../find.ts';
import { arg } from '../../options.ts';
import type { Column } from '../../output/columns.ts';
import { WAIT_OPTIONS } from '../../terminal/wait.ts';
import { startAndWaitForEvent } from '../../wait/wait-for-event.ts';
import { SERVER_COLUMNS } from './columns.ts';
import { hasRestarted, isRestartEvent } from './restart-check.ts';

const RESCUE_COLUMNS: readonly Column<RescuedServer>[] = [
  ...SERVER_COLUMNS.filter(({ name }) => ['id', 'name', 'ipv4', 'ipv6'].includes(name)),
  { name: 'username', value: ({ rescue }) => rescue.username },
  { name: 'password', value: ({ rescue }) => rescue.password },
];

export const rescue = command({
  name: 'server rescue',
  about: 'Restart a server into the rescue system',
  help: 'The password is shown only once. The disk is unchanged; the next restart leaves the rescue system.',
  operations: ['servers.rescue', 'servers.get', 'servers.list', 'events.stream', 'audit_events.list'],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
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
