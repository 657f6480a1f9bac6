import { type Command, command } from '../../command.ts';
import { findFirewallGroup, resolveServerId } from '../../find.ts';
import { omitUndefined } from '../../lists.ts';
import { arg, list, text } from '../../options.ts';
import { requireChanges } from '../../require-changes.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { FIREWALL_GROUP_COLUMNS } from './columns.ts';
import { FIREWALL_MEMBERS } from './members.ts';
import { RULE_HELP, ruleOption } from './rules.ts';
import { showGroup } from './show.ts';

const DEFAULT_ACTIONS = ['drop', 'accept'] as const;
type DefaultAction = (typeof DEFAULT_ACTIONS)[number];
const GROUP = arg('Name or ID of the firewall group', { completionKind: 'firewall' });

const create = command({
  name: 'firewall create',
  about: 'Create a firewall group',
  help: RULE_HELP,
  operations: ['firewall_groups.create', 'servers.get', 'servers.list'],
  args: { name: arg('Name of the firewall group') },
  options: {
    defaultAction: text('drop|accept', 'Action for traffic that matches no rule (default: drop)', {
      choices: DEFAULT_ACTIONS,
    }),
    rule: ruleOption('Rule; rules apply in this order, first match wins'),
    server: list('server', 'Name or ID of a server to apply it to', { completionKind: 'server' }),
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
  operations: [
    'firewall_groups.update',
    'firewall_groups.get',
    'firewall_groups.list',
    'servers.get',
    'servers.list',
  ],
  args: { group: GROUP },
  options: {
    name: text('name', 'New name'),
    defaultAction: text('drop|accept', 'Action for traffic that matches no rule', {
      choices: DEFAULT_ACTIONS,
    }),
    server: list('server', 'Name or ID of a server to apply it to; replaces all servers', {
      completionKind: 'server',
    }),
  },
  columns: FIREWALL_GROUP_COLUMNS,
  example: 'skerry firewall update web --default-action drop --server web-1',
  run: async ({ skerry, output }, { group, name, defaultAction, server }) => {
    const asked = requireChanges({
      name,
      default_action: defaultAction as DefaultAction | undefined,
      server,
    });
    const { id } = await findFirewallGroup(skerry, group);
    const { server: servers, ...body } = asked;
    const ids = servers && (await Promise.all(servers.map((one) => resolveServerId(skerry, one))));
    showGroup(
      output,
      await skerry.firewallGroups.update(id, { ...body, ...omitUndefined({ applied_to: ids }) }),
    );
  },
});

const remove = command({
  name: 'firewall delete',
  aliases: ['rm'],
  about: 'Delete a firewall group that is applied to no server',
  operations: ['firewall_groups.delete', 'firewall_groups.get', 'firewall_groups.list'],
  args: { group: GROUP },
  options: { yes: YES_OPTION },
  example: 'skerry firewall delete old-web --yes',
  run: async ({ skerry, terminal }, { group, yes }) => {
    const { id, name, rules } = await findFirewallGroup(skerry, group);
    await confirm(terminal, yes, `delete firewall group ${name} (${id}) and its ${rules.length} rules`);
    await skerry.firewallGroups.delete(id);
    terminal.note(`Firewall group ${name} deleted.`);
  },
});

export const FIREWALL_WRITE: readonly Command[] = [create, update, ...FIREWALL_MEMBERS, remove];
