import { type Command, command } from '../../command.ts';
import { findFirewallGroup } from '../../find.ts';
import { LIST_OPTIONS, omitUndefined, showList } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import { FIREWALL_GROUP_COLUMNS } from './columns.ts';
import { showGroup } from './show.ts';

const list = command({
  name: 'firewall list',
  aliases: ['ls'],
  about: 'List firewall groups',
  operations: ['firewall_groups.list'],
  options: { name: text('name', 'Filter by name'), ...LIST_OPTIONS },
  columns: FIREWALL_GROUP_COLUMNS,
  example: 'skerry firewall list --sort name',
  run: async (context, { sort, limit, ...filter }) => {
    const query = omitUndefined({ filter: omitUndefined(filter), sort }) as object;
    await showList(context, context.skerry.firewallGroups.list(query), limit, FIREWALL_GROUP_COLUMNS);
  },
});

const describe = command({
  name: 'firewall describe',
  aliases: ['get', 'show'],
  about: 'Show a firewall group and its rules',
  operations: ['firewall_groups.get', 'firewall_groups.list'],
  args: { group: arg('Name or ID', { completionKind: 'firewall' }) },
  columns: FIREWALL_GROUP_COLUMNS,
  example: 'skerry firewall describe web',
  run: async ({ skerry, output }, { group }) => {
    showGroup(output, await findFirewallGroup(skerry, group));
  },
});

export const FIREWALL_READ: readonly Command[] = [list, describe];
