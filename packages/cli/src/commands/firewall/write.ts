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
const GROUP = arg('Name or id of the group.', { completionKind: 'firewall' });

const create = command({
  name: 'firewall create',
  about: 'Create a firewall group',
  help: RULE_HELP,
  operations: ['firewall_groups.create', 'servers.get', 'servers.list'],
  args: { name: arg('How to call it.') },
  options: {
    defaultAction: text('drop|accept', 'What becomes of what no rule matches; drop when left out.', {
      choices: DEFAULT_ACTIONS,
    }),
    rule: ruleOption('A rule, in the order in which they are tried.'),
    server: list('server', 'A server that it is for, by name or id.', { completionKind: 'server' }),
  },
  columns: FIREWALL_GROUP_COLUMNS,
  example: `skerry firewall create ssh-only --rule 'in tcp 22 203.0.113.0/24 accept # office' --server web-1`,
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
  about: 'Change the name, the default or the servers of a firewall group',
  help: '--server replaces all servers at once; an empty one takes the group from all of them.',
  operations: [
    'firewall_groups.update',
    'firewall_groups.get',
    'firewall_groups.list',
    'servers.get',
    'servers.list',
  ],
  args: { group: GROUP },
  options: {
    name: text('name', 'Its new name.'),
    defaultAction: text('drop|accept', 'What becomes of what no rule matches.', { choices: DEFAULT_ACTIONS }),
    server: list('server', 'The servers that it is for, by name or id: these and no others.', {
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
  about: 'Delete a firewall group; it must be applied to no server',
  operations: ['firewall_groups.delete', 'firewall_groups.get', 'firewall_groups.list'],
  args: { group: GROUP },
  options: { yes: YES_OPTION },
  example: 'skerry firewall delete old-web --yes',
  run: async ({ skerry, terminal }, { group, yes }) => {
    const { id, name, rules: held } = await findFirewallGroup(skerry, group);
    await confirm(
      terminal,
      yes,
      `delete firewall group ${name} (${id}) with its rules, ${held.length} in all`,
    );
    await skerry.firewallGroups.delete(id);
    terminal.note(`Firewall group ${name} is deleted.`);
  },
});

export const FIREWALL_WRITE: readonly Command[] = [create, update, ...FIREWALL_MEMBERS, remove];
