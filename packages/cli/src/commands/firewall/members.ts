/** Adds or removes a server of a group. The API has only the whole list: read it, change it, write it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FirewallGroup } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import {
  FIND_FIREWALL_GROUP,
  FIND_SERVER,
  findFirewallGroup,
  findServer,
  resolveServerId,
} from '../../find.ts';
import { arg } from '../../options.ts';
import { FIREWALL_GROUP_COLUMNS, showGroup } from './groups.ts';

const ARGS = {
  group: arg('Name or ID of the firewall group', { completionKind: 'firewall' }),
  server: arg('Name or ID of the server', { completionKind: 'server' }),
};
const HELP =
  'The API replaces the whole list of servers, so a change by another client at the same moment could\n' +
  'undo this one. The command checks the group afterwards and retries. It fails if the change is undone\n' +
  'every time.';
const MAX_ATTEMPTS = 8;
/** Longer than another client takes from reading to writing; random, so that two runs do not stay in step. */
const RECHECK_DELAY_MS = { least: 300, most: 900 };

/** Changes the membership and repeats until it lasts. */
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
    `could not ${isMember ? 'add' : 'remove'} ${serverId}: another client keeps changing ${groupId}`,
  );
}

const COMMON = {
  help: HELP,
  operations: ['firewall_groups.update', ...FIND_FIREWALL_GROUP, ...FIND_SERVER],
  args: ARGS,
  columns: FIREWALL_GROUP_COLUMNS,
} as const;

const attach = command({
  ...COMMON,
  name: 'firewall attach',
  about: 'Apply a firewall group to a server',
  example: 'skerry firewall attach web web-1',
  run: async (context, { group, server }) => {
    const { id, name } = await findServer(context.skerry, server);
    await ensureMember(context, { group, id, name }, true);
  },
});

const detach = command({
  ...COMMON,
  name: 'firewall detach',
  about: 'Remove a firewall group from a server',
  example: 'skerry firewall detach web web-1',
  run: async (context, { group, server }) => {
    const id = await resolveServerId(context.skerry, server);
    await ensureMember(context, { group, id, name: server }, false);
  },
});

async function ensureMember(
  context: Context,
  { group, id, name }: { readonly group: string; readonly id: string; readonly name: string },
  isMember: boolean,
): Promise<void> {
  const { skerry, output, terminal } = context;
  const found = await findFirewallGroup(skerry, group);
  const isDone = found.applied_to.includes(id) === isMember;
  const state = isMember ? 'already' : 'not';
  if (isDone) terminal.note(`Firewall group ${found.name} is ${state} applied to server ${name}.`);
  showGroup(output, isDone ? found : await changeMembers(context, found.id, id, isMember));
}

export const FIREWALL_MEMBERS: readonly Command[] = [attach, detach];
