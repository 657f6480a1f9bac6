import type { FirewallGroup, FirewallRule } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { FIND_FIREWALL_GROUP, FIND_SERVER, findFirewallGroup, resolveServerId } from '../../find.ts';
import { listCommand, omitUndefined, requireChanges } from '../../lists.ts';
import { arg, listOf, text } from '../../options.ts';
import { type Column, fields, hidden, times } from '../../output/format.ts';
import type { Output } from '../../output/output.ts';
import { deleteCommand } from '../../resources.ts';
import { RULE_HELP, ruleOption } from './rule-text.ts';

export const FIREWALL_GROUP_COLUMNS: readonly Column<FirewallGroup>[] = [
  ...fields<FirewallGroup>('id', 'name', 'default_action'),
  { name: 'rule_count', value: (group) => group.rules.length },
  { name: 'server_count', value: (group) => group.applied_to.length },
  ...hidden(fields<FirewallGroup>('applied_to')),
  ...hidden(times<FirewallGroup>('created_at')),
];

export const FIREWALL_RULE_COLUMNS: readonly Column<FirewallRule>[] = [
  ...fields<FirewallRule>('id', 'direction', 'proto', 'port', 'source', 'action', 'note'),
];

/** Shows positions instead of IDs: `firewall rule delete` accepts them, and the line fits a terminal. */
const NUMBERED_RULE_COLUMNS: readonly Column<FirewallRule & { readonly place: number }>[] = [
  { name: '#', value: ({ place }) => place },
  ...FIREWALL_RULE_COLUMNS.filter(({ name }) => name !== 'id'),
];

/** Shows a group; for people, its rules below with the numbers that `firewall rule delete` accepts. */
export function showGroup(output: Output, group: FirewallGroup): void {
  output.show(group, FIREWALL_GROUP_COLUMNS);
  const placed = group.rules.map((rule, at) => ({ ...rule, place: at + 1 }));
  output.showSection('Rules', placed, NUMBERED_RULE_COLUMNS);
}

const list = listCommand({
  name: 'firewall list',
  about: 'List firewall groups',
  operations: ['firewall_groups.list'],
  options: { name: text('name', 'Filter by name') },
  columns: FIREWALL_GROUP_COLUMNS,
  example: 'skerry firewall list --sort name',
  list: (skerry, query) => skerry.firewallGroups.list(query),
});

const describe = command({
  name: 'firewall describe',
  aliases: ['get', 'show'],
  about: 'Show a firewall group and its rules',
  operations: FIND_FIREWALL_GROUP,
  args: { group: arg('Name or ID', { completionKind: 'firewall' }) },
  columns: FIREWALL_GROUP_COLUMNS,
  example: 'skerry firewall describe web',
  run: async ({ skerry, output }, { group }) => {
    showGroup(output, await findFirewallGroup(skerry, group));
  },
});

const DEFAULT_ACTIONS = ['drop', 'accept'] as const;
type DefaultAction = (typeof DEFAULT_ACTIONS)[number];
const GROUP = arg('Name or ID of the firewall group', { completionKind: 'firewall' });

const create = command({
  name: 'firewall create',
  about: 'Create a firewall group',
  help: RULE_HELP,
  operations: ['firewall_groups.create', ...FIND_SERVER],
  args: { name: arg('Name of the firewall group') },
  options: {
    defaultAction: text('drop|accept', 'Action for traffic that matches no rule (default: drop)', {
      choices: DEFAULT_ACTIONS,
    }),
    rule: ruleOption('Rule; rules apply in this order, first match wins'),
    server: listOf('server', 'Name or ID of a server to apply it to', { completionKind: 'server' }),
  },
  columns: FIREWALL_GROUP_COLUMNS,
  example: "skerry firewall create ssh-only --rule 'in tcp 22 203.0.113.0/24 accept # office' --server web-1",
  run: async ({ skerry, output }, { name, defaultAction, rule, server }) => {
    const ids = server && (await Promise.all(server.map((one) => resolveServerId(skerry, one))));
    const created = await skerry.firewallGroups.create({
      name,
      default_action: (defaultAction ?? 'drop') as DefaultAction,
      ...omitUndefined({ rules: rule && [...rule], applied_to: ids }),
    });
    showGroup(output, created);
  },
});

const update = command({
  name: 'firewall update',
  about: 'Change the name, default action, or servers of a firewall group',
  help: '--server replaces all servers; an empty value removes the group from all servers.',
  operations: ['firewall_groups.update', ...FIND_FIREWALL_GROUP, ...FIND_SERVER],
  args: { group: GROUP },
  options: {
    name: text('name', 'New name'),
    defaultAction: text('drop|accept', 'Action for traffic that matches no rule', {
      choices: DEFAULT_ACTIONS,
    }),
    server: listOf('server', 'Name or ID of a server to apply it to; replaces all servers', {
      completionKind: 'server',
    }),
  },
  columns: FIREWALL_GROUP_COLUMNS,
  example: 'skerry firewall update web --default-action drop --server web-1',
  run: async ({ skerry, output }, { group, name, defaultAction, server }) => {
    const default_action = defaultAction as DefaultAction | undefined;
    const { server: servers, ...asked } = requireChanges({ name, default_action, server });
    const { id } = await findFirewallGroup(skerry, group);
    const ids = servers && (await Promise.all(servers.map((one) => resolveServerId(skerry, one))));
    const body = { ...asked, ...omitUndefined({ applied_to: ids }) };
    showGroup(output, await skerry.firewallGroups.update(id, body));
  },
});

const remove = deleteCommand(
  {
    word: 'firewall',
    argument: 'group',
    about: 'Name or ID of the firewall group',
    find: findFirewallGroup,
    calls: FIND_FIREWALL_GROUP,
  },
  {
    noun: 'firewall group',
    operation: 'firewall_groups.delete',
    delete: (skerry, id) => skerry.firewallGroups.delete(id),
    consequence: ({ rules }) => ` and its ${rules.length} rules`,
    about: 'Delete a firewall group that is applied to no server',
    example: 'skerry firewall delete old-web --yes',
  },
);

export const FIREWALL_GROUPS: readonly Command[] = [list, describe, create, update, remove];
