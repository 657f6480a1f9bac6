/** What puts something else onto the disk: an image, or a snapshot. */
import type { Server } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { findImage, findServer, findSnapshot } from '../../find.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, list, requiredText, text } from '../../options.ts';
import { formatTime } from '../../output/columns.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { type PollOptions, WAIT_OPTIONS, type WaitFlags, waitWithProgress } from '../../terminal/wait.ts';
import { SERVER_COLUMNS } from './columns.ts';
import { resolveKeys } from './ssh-keys.ts';
import { readUserData, USER_DATA_FILE } from './user-data.ts';
import { failIfGivenUp, waitForServer } from './wait-for-server.ts';

const rebuild = command({
  name: 'server rebuild',
  about: 'Install a server anew; what is on its disk is lost',
  help: 'Addresses stay. What is left out stays as it is, but user data is not applied again by itself.',
  operations: [
    ...(['servers.rebuild', 'servers.get', 'servers.list', 'audit_events.list'] as const),
    ...(['images.list', 'images.get', 'ssh_keys.list', 'ssh_keys.get'] as const),
  ],
  args: { server: arg('Name or id.', { completionKind: 'server' }) },
  options: {
    image: text('image', 'Id, debian-13, or debian for its newest.', { completionKind: 'image' }),
    sshKey: list('key', 'Name or id; the present keys when left out.', { completionKind: 'ssh-key' }),
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
    await confirm(terminal, yes, `install server ${name} (${id}) anew and lose all that is on its disk`);
    const begun = await skerry.servers.rebuild(id, omitUndefined({ image, ssh_keys, user_data_b64 }));
    await waitForReinstall(context, options, begun, 'rebuild');
  },
});

const restore = command({
  name: 'server restore',
  about: 'Put a snapshot onto the disk of a server; what is on it is lost',
  help: 'Any ready snapshot of the same region that fits the disk. Addresses stay.',
  operations: [
    ...(['servers.restore', 'servers.get', 'servers.list', 'audit_events.list'] as const),
    ...(['snapshots.list', 'snapshots.get'] as const),
  ],
  args: { server: arg('Name or id.', { completionKind: 'server' }) },
  options: {
    snapshot: requiredText('snapshot', 'Name or id.', { completionKind: 'snapshot' }),
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
      `put snapshot ${snapshot.name} of ${formatTime(snapshot.created_at)} onto the disk of server ${name} (${id}) ` +
        'and lose all that is on it now',
    );
    const begun = await skerry.servers.restore(id, { snapshot: snapshot.id });
    await waitForReinstall(context, options, begun, 'restore');
  },
});

async function waitForReinstall(
  context: Context,
  waits: WaitFlags,
  started: Server,
  operation: 'rebuild' | 'restore',
): Promise<void> {
  const { skerry, output } = context;
  const isDone = (seen: Server | null) => seen?.status === 'running' || seen?.status === 'stopped';
  const until = async (wait: PollOptions) => {
    const seen = await waitForServer(skerry, started, { isDone }, wait);
    // A server whose former disk was kept is as it was, with the same status as one that was installed.
    await failIfGivenUp(skerry, seen, operation);
    return seen;
  };
  const show = (seen: Server) => output.showRow(seen, SERVER_COLUMNS);
  show(await waitWithProgress(context, waits, started.name, started, until, show));
}

export const SERVER_REINSTALL: readonly Command[] = [rebuild, restore];
