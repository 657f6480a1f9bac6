/** One server more or less behind a group. The API has only the whole list, which is read, changed and written. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FirewallGroup } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { findFirewallGroup, findServer, resolveServerId } from '../../find.ts';
import { arg } from '../../options.ts';
import { FIREWALL_GROUP_COLUMNS } from './columns.ts';
import { showGroup } from './show.ts';

const ARGS = {
  group: arg('Name or id of the group.', { completionKind: 'firewall' }),
  server: arg('Name or id of the server.', { completionKind: 'server' }),
};
const HELP =
  'The API replaces the list of servers as a whole. Who changes it at the same moment could undo this: so the group is\n' +
  'looked at again afterwards, and changed again until it holds. It fails when it does not.';
const MAX_ATTEMPTS = 8;
/** Longer than others need from reading the list to writing it; not the same for two that run together. */
const RECHECK_DELAY_MS = { least: 300, most: 900 };

/** Changes it until it is so, and stays so. */
async function changeMembers(
  { skerry, signal }: Context,
  groupId: string,
  serverId: string,
  isMember: boolean,
): Promise<FirewallGroup> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const { applied_to: members } = await skerry.firewallGroups.get(groupId);
    const others = members.filter((one) => one !== serverId);
    await skerry.firewallGroups.update(groupId, { applied_to: isMember ? [...others, serverId] : others });
    const { least, most } = RECHECK_DELAY_MS;
    await sleep(least + Math.random() * (most - least), undefined, { signal });
    const seen = await skerry.firewallGroups.get(groupId);
    if (seen.applied_to.includes(serverId) === isMember) return seen;
  }
  throw new Failure(
    'conflict',
    `the servers of ${groupId} are changed by others all the time: ${serverId} is ${isMember ? 'not' : 'still'} behind it`,
  );
}

const attach = command({
  name: 'firewall attach',
  about: 'Put a server behind a firewall group',
  help: HELP,
  operations: [
    'firewall_groups.update',
    'firewall_groups.get',
    'firewall_groups.list',
    'servers.get',
    'servers.list',
  ],
  args: ARGS,
  columns: FIREWALL_GROUP_COLUMNS,
  example: 'skerry firewall attach web web-1',
  run: async (context, { group, server }) => {
    const { skerry, output, terminal } = context;
    const { id, name } = await findServer(skerry, server);
    const found = await findFirewallGroup(skerry, group);
    const isIn = found.applied_to.includes(id);
    if (isIn) terminal.note(`Server ${name} is behind ${found.name} already.`);
    showGroup(output, isIn ? found : await changeMembers(context, found.id, id, true));
  },
});

const detach = command({
  name: 'firewall detach',
  about: 'Take a firewall group from a server',
  help: HELP,
  operations: [
    'firewall_groups.update',
    'firewall_groups.get',
    'firewall_groups.list',
    'servers.get',
    'servers.list',
  ],
  args: ARGS,
  columns: FIREWALL_GROUP_COLUMNS,
  example: 'skerry firewall detach web web-1',
  run: async (context, { group, server }) => {
    const { skerry, output, terminal } = context;
    const id = await resolveServerId(skerry, server);
    const found = await findFirewallGroup(skerry, group);
    const isIn = found.applied_to.includes(id);
    if (!isIn) terminal.note(`Server ${server} is not behind ${found.name}.`);
    showGroup(output, isIn ? await changeMembers(context, found.id, id, false) : found);
  },
});

export const FIREWALL_MEMBERS: readonly Command[] = [attach, detach];
