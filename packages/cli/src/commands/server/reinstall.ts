/** What puts something else onto the disk: an image, or a snapshot. */
import type { Server } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { findImage, findServer, findSnapshot } from '../../find.ts';
import { given } from '../../lists.ts';
import { arg, list, requiredText, text } from '../../options.ts';
import { time } from '../../output/columns.ts';
import { confirm, YES } from '../../terminal/confirm.ts';
import { WAITS, type Waiting, type Waits, waiting } from '../../terminal/waiting.ts';
import { SERVER_COLUMNS } from './columns.ts';
import { namedKeys } from './keys.ts';
import { failIfGivenUp, untilServer } from './until.ts';
import { readUserData, USER_DATA_FILE } from './user-data.ts';

const rebuild = command({
  name: 'server rebuild',
  about: 'Install a server anew; what is on its disk is lost',
  help: 'Addresses stay. What is left out stays as it is, but user data is not applied again by itself.',
  does: [
    ...(['servers.rebuild', 'servers.get', 'servers.list', 'audit_events.list'] as const),
    ...(['images.list', 'images.get', 'ssh_keys.list', 'ssh_keys.get'] as const),
  ],
  args: { server: arg('Name or id.', { completes: 'server' }) },
  options: {
    image: text('image', 'Id, debian-13, or debian for its newest.', { completes: 'image' }),
    sshKey: list('key', 'Name or id; the present keys when left out.', { completes: 'ssh-key' }),
    userDataFile: USER_DATA_FILE,
    yes: YES,
    ...WAITS,
  },
  columns: SERVER_COLUMNS,
  example: 'skerry server rebuild web-1 --image debian-13 --yes',
  run: async (context, { server, yes, ...options }) => {
    const { skerry, terminal } = context;
    const user_data_b64 = await readUserData(options.userDataFile);
    const { id, name } = await findServer(skerry, server);
    const image = options.image === undefined ? undefined : (await findImage(skerry, options.image)).id;
    const ssh_keys = await namedKeys(skerry, options.sshKey);
    await confirm(terminal, yes, `install server ${name} (${id}) anew and lose all that is on its disk`);
    const begun = await skerry.servers.rebuild(id, given({ image, ssh_keys, user_data_b64 }));
    await reinstalled(context, options, begun, 'rebuild');
  },
});

const restore = command({
  name: 'server restore',
  about: 'Put a snapshot onto the disk of a server; what is on it is lost',
  help: 'Any ready snapshot of the same region that fits the disk. Addresses stay.',
  does: [
    ...(['servers.restore', 'servers.get', 'servers.list', 'audit_events.list'] as const),
    ...(['snapshots.list', 'snapshots.get'] as const),
  ],
  args: { server: arg('Name or id.', { completes: 'server' }) },
  options: {
    snapshot: requiredText('snapshot', 'Name or id.', { completes: 'snapshot' }),
    yes: YES,
    ...WAITS,
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
      `put snapshot ${snapshot.name} of ${time(snapshot.created_at)} onto the disk of server ${name} (${id}) ` +
        'and lose all that is on it now',
    );
    const begun = await skerry.servers.restore(id, { snapshot: snapshot.id });
    await reinstalled(context, options, begun, 'restore');
  },
});

async function reinstalled(
  context: Context,
  waits: Waits,
  begun: Server,
  operation: 'rebuild' | 'restore',
): Promise<void> {
  const { skerry, output } = context;
  const isDone = (seen: Server | null) => seen?.status === 'running' || seen?.status === 'stopped';
  const until = async (wait: Waiting) => {
    const seen = await untilServer(skerry, begun, { isDone }, wait);
    // A server whose former disk was kept is as it was, with the same status as one that was installed.
    await failIfGivenUp(skerry, seen, operation);
    return seen;
  };
  const show = (seen: Server) => output.row(seen, SERVER_COLUMNS);
  show(await waiting(context, waits, begun.name, begun, until, show));
}

export const SERVER_REINSTALL: readonly Command[] = [rebuild, restore];
