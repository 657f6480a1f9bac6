/** Adds or removes a server of a group. */
import { type Command, type Context, command } from '../../command.ts';
import {
  FIND_FIREWALL_GROUP,
  FIND_SERVER,
  findFirewallGroup,
  findServer,
  resolveServerId,
} from '../../find.ts';
import { arg } from '../../options.ts';
import { FIREWALL_GROUP_COLUMNS, showGroup } from './groups.ts';

const COMMON = {
  operations: ['firewall_groups.update', ...FIND_FIREWALL_GROUP, ...FIND_SERVER],
  args: {
    group: arg('Name or ID of the firewall group', { completionKind: 'firewall' }),
    server: arg('Name or ID of the server', { completionKind: 'server' }),
  },
  columns: FIREWALL_GROUP_COLUMNS,
} as const;

const attach = command({
  ...COMMON,
  name: 'firewall attach',
  about: 'Apply a firewall group to a server',
  example: 'skerry firewall attach web web-1',
  run: async (context, { group, server }) => {
    const { id, name } = await findServer(context.skerry, server);
    await ensureMember(context, { group, id, name }, 'attach');
  },
});

const detach = command({
  ...COMMON,
  name: 'firewall detach',
  about: 'Remove a firewall group from a server',
  example: 'skerry firewall detach web web-1',
  run: async (context, { group, server }) => {
    const id = await resolveServerId(context.skerry, server);
    await ensureMember(context, { group, id, name: server }, 'detach');
  },
});

async function ensureMember(
  { skerry, output, terminal }: Context,
  { group, id, name }: { readonly group: string; readonly id: string; readonly name: string },
  change: 'attach' | 'detach',
): Promise<void> {
  const found = await findFirewallGroup(skerry, group);
  const isMember = found.applied_to.includes(id);
  if (isMember === (change === 'attach')) {
    terminal.note(
      `Firewall group ${found.name} is ${isMember ? 'already' : 'not'} applied to server ${name}.`,
    );
    return showGroup(output, found);
  }
  showGroup(output, await skerry.firewallGroups.update(found.id, { [change]: [id] }));
}

export const FIREWALL_MEMBERS: readonly Command[] = [attach, detach];
