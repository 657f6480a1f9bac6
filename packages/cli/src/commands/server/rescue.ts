import type { RescuedServer } from '@skerry/sdk';
import { command } from '../../command.ts';
import { findServer } from '../../find.ts';
import { arg } from '../../options.ts';
import type { Column } from '../../output/columns.ts';
import { WAITS } from '../../terminal/waiting.ts';
import { doneByEvent } from '../../waits/by-event.ts';
import { SERVER_COLUMNS } from './columns.ts';
import { hasRestarted, saysRestarted } from './restarted.ts';

const RESCUE_COLUMNS: readonly Column<RescuedServer>[] = [
  ...SERVER_COLUMNS.filter(({ name }) => ['id', 'name', 'ipv4', 'ipv6'].includes(name)),
  { name: 'username', of: ({ rescue }) => rescue.username },
  { name: 'password', of: ({ rescue }) => rescue.password },
];

export const rescue = command({
  name: 'server rescue',
  about: 'Boot a server into the rescue system',
  help: 'The password is shown once. The disk is left as it is; the next reboot leaves the rescue system.',
  does: ['servers.rescue', 'servers.get', 'servers.list', 'events.stream', 'audit_events.list'],
  args: { server: arg('Name or id.', { completes: 'server' }) },
  options: WAITS,
  columns: RESCUE_COLUMNS,
  example: 'skerry server rescue web-1',
  run: async (context, { server, ...waits }) => {
    const { skerry, terminal, output } = context;
    const { id, name } = await findServer(skerry, server);
    await doneByEvent(context, waits, name, {
      doing: 'booting the rescue system',
      begin: async () => {
        const rescued = await skerry.servers.rescue(id);
        // At once: whoever stops waiting still has it.
        output.show(rescued, RESCUE_COLUMNS);
        terminal.warn('skerry: the password is shown this once; the next reboot leaves the rescue system');
        return rescued;
      },
      isEnd: (event) => saysRestarted(event, id),
      look: (before) => hasRestarted(skerry, before, 'rescue'),
    });
    if (!waits.noWait) terminal.note(`${name} runs the rescue system.`);
  },
});
