/** ISO images in the drive of an existing server. */
import { type Command, command } from '../../command.ts';
import { FIND_IMAGE, FIND_SERVER, findImage, findServer } from '../../find.ts';
import { arg, requiredText } from '../../options.ts';
import { WAIT_OPTIONS } from '../../terminal/wait.ts';
import { WAIT_OPERATIONS } from '../../terminal/wait-for-action.ts';
import { SERVER_COLUMNS } from './show.ts';
import { waitForServer } from './wait-for-server.ts';

const ARGS = { server: arg('Name or ID', { completionKind: 'server' }) };

const insert = command({
  name: 'server insert-iso',
  about: 'Put an ISO image that you uploaded into the drive of a server',
  help:
    'Works while the server runs, and replaces the image that is in the drive. To boot the image, run\n' +
    '`skerry server update SERVER --boot iso` and then `skerry server reboot SERVER`.',
  operations: ['servers.insert_iso', ...FIND_SERVER, ...FIND_IMAGE, ...WAIT_OPERATIONS],
  args: ARGS,
  options: {
    image: requiredText('image', 'ID or name; see `skerry image list`', { completionKind: 'image' }),
    ...WAIT_OPTIONS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server insert-iso web-1 --image rescue',
  run: async (context, { server, image, ...waits }) => {
    const { skerry } = context;
    const { id } = await findServer(skerry, server);
    const found = await findImage(skerry, image);
    await waitForServer(context, waits, await skerry.servers.insertIso(id, { image: found.id }), 'installed');
  },
});

const eject = command({
  name: 'server eject-iso',
  about: 'Empty the drive of a server for ISO images',
  help: 'The server boots its disk from then on. The image itself is kept.',
  operations: ['servers.eject_iso', ...FIND_SERVER, ...WAIT_OPERATIONS],
  args: ARGS,
  options: WAIT_OPTIONS,
  columns: SERVER_COLUMNS,
  example: 'skerry server eject-iso web-1',
  run: async (context, { server, ...waits }) => {
    const { skerry } = context;
    const { id } = await findServer(skerry, server);
    await waitForServer(context, waits, await skerry.servers.ejectIso(id), 'installed');
  },
});

export const SERVER_ISO: readonly Command[] = [insert, eject];
