/** Commands that replace the contents of a disk: with an image or a snapshot. */
import { type Command, command } from '../../command.ts';
import {
  FIND_IMAGE,
  FIND_SERVER,
  FIND_SNAPSHOT,
  FIND_SSH_KEY,
  findImage,
  findServer,
  findSnapshot,
} from '../../find.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, listOf, requiredText, text } from '../../options.ts';
import { formatTime } from '../../output/format.ts';
import { confirm, YES_OPTION } from '../../terminal/terminal.ts';
import { WAIT_OPTIONS } from '../../terminal/wait.ts';
import { WAIT_OPERATIONS } from '../../terminal/wait-for-action.ts';
import { readUserData, resolveKeys, USER_DATA_FILE } from './install.ts';
import { SERVER_COLUMNS } from './show.ts';
import { waitForServer } from './wait-for-server.ts';

const rebuild = command({
  name: 'server rebuild',
  about: 'Reinstall a server and erase its disk',
  help: 'IP addresses stay the same. Omitted options keep their values, except user data: it is not reused.',
  operations: ['servers.rebuild', ...FIND_SERVER, ...WAIT_OPERATIONS, ...FIND_IMAGE, ...FIND_SSH_KEY],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {
    image: text('image', 'ID or name, or family for the newest version (default: the current image)', {
      completionKind: 'image',
    }),
    sshKey: listOf('key', 'Name or ID (default: the current keys)', { completionKind: 'ssh-key' }),
    userDataFile: USER_DATA_FILE,
    yes: YES_OPTION,
    ...WAIT_OPTIONS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server rebuild web-1 --image debian-13 --yes',
  run: async (context, { server, yes, ...options }) => {
    const { skerry, terminal } = context;
    const user_data_b64 = await readUserData(options.userDataFile);
    const { id, name } = await findServer(skerry, server);
    const image = options.image === undefined ? undefined : (await findImage(skerry, options.image)).id;
    const ssh_keys = await resolveKeys(skerry, options.sshKey);
    await confirm(terminal, yes, `reinstall server ${name} (${id}) and erase all data on its disk`);
    const begun = await skerry.servers.rebuild(id, omitUndefined({ image, ssh_keys, user_data_b64 }));
    await waitForServer(context, options, begun, 'installed');
  },
});

const restore = command({
  name: 'server restore',
  about: 'Restore a snapshot to a server and erase its disk',
  help: 'The snapshot must be ready, in the same region, and fit the disk. IP addresses stay the same.',
  operations: ['servers.restore', ...FIND_SERVER, ...WAIT_OPERATIONS, ...FIND_SNAPSHOT],
  args: { server: arg('Name or ID', { completionKind: 'server' }) },
  options: {
    snapshot: requiredText('snapshot', 'Name or ID', { completionKind: 'snapshot' }),
    yes: YES_OPTION,
    ...WAIT_OPTIONS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server restore web-1 --snapshot before-upgrade --yes',
  run: async (context, { server, yes, ...options }) => {
    const { skerry, terminal } = context;
    const { id, name } = await findServer(skerry, server);
    const snapshot = await findSnapshot(skerry, options.snapshot);
    await confirm(
      terminal,
      yes,
      `restore snapshot ${snapshot.name} of ${formatTime(snapshot.created_at)} to server ${name} (${id}) ` +
        'and erase all data on its disk',
    );
    const begun = await skerry.servers.restore(id, { snapshot: snapshot.id });
    await waitForServer(context, options, begun, 'installed');
  },
});

export const SERVER_REINSTALL: readonly Command[] = [rebuild, restore];
