import type { FirewallGroup, FirewallRule } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { findFirewallGroup } from '../../find.ts';
import { arg, restArg, text } from '../../options.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { FIREWALL_GROUP_COLUMNS, FIREWALL_RULE_COLUMNS } from './columns.ts';
import { formatRule, parseRule, RULE_HELP, ruleOption } from './rules.ts';
import { readRulesFile } from './rules-file.ts';
import { showGroup } from './show.ts';

const GROUP = arg('Name or id of the group.', { completionKind: 'firewall' });

const add = command({
  name: 'firewall rule add',
  aliases: ['create'],
  about: 'Append a rule to a firewall group',
  help: RULE_HELP,
  operations: ['firewall_rules.create', 'firewall_groups.get', 'firewall_groups.list'],
  args: { group: GROUP, rule: restArg('The rule, in one line; quotes are not needed.') },
  options: { note: text('text', 'A note to the rule.') },
  columns: FIREWALL_RULE_COLUMNS,
  example: 'skerry firewall rule add web in tcp 443 0.0.0.0/0 accept --note https',
  run: async ({ skerry, output }, { group, rule, note }) => {
    const read = parseRule(rule.join(' '), 'rule');
    const { id } = await findFirewallGroup(skerry, group);
    const body = note === undefined ? read : { ...read, note: note === '' ? null : note };
    output.show(await skerry.firewallRules.create(id, body), FIREWALL_RULE_COLUMNS);
  },
});

const set = command({
  name: 'firewall rule set',
  aliases: ['replace'],
  about: 'Replace all rules of a firewall group at once',
  help:
    `${RULE_HELP}\n\n` +
    'The file is JSON or YAML: a list of rules, each a line as above or an object as the API has it, or an object\n' +
    'that has that list as "rules". In YAML a line with a note stands in quotes. What `firewall describe -o yaml` wrote can be\n' +
    'edited and set.',
  operations: ['firewall_rules.replace', 'firewall_groups.get', 'firewall_groups.list'],
  args: { group: GROUP },
  options: {
    file: text('file', 'A file with the rules; - is stdin.'),
    rule: ruleOption('A rule, in the order in which they are tried.'),
    yes: YES_OPTION,
  },
  columns: FIREWALL_GROUP_COLUMNS,
  example: `skerry firewall rule set web --rule 'in tcp 80,443 0.0.0.0/0 accept' --rule 'in icmp 0.0.0.0/0 accept' --yes`,
  run: async ({ skerry, output, terminal }, { group, file, rule, yes }) => {
    if ((file === undefined) === (rule === undefined)) {
      throw new Failure('usage', 'give the rules either by --file or by --rule');
    }
    const wanted = file === undefined ? (rule ?? []) : await readRulesFile(file);
    const found = await findFirewallGroup(skerry, group);
    const change = `replace the rules of firewall group ${found.name} (${found.id})`;
    await confirm(terminal, yes, `${change}, ${found.rules.length} now, by ${wanted.length} other`);
    showGroup(output, await skerry.firewallRules.replace(found.id, { rules: [...wanted] }));
  },
});

const remove = command({
  name: 'firewall rule delete',
  aliases: ['rm'],
  about: 'Delete one rule of a firewall group',
  operations: ['firewall_rules.delete', 'firewall_groups.get', 'firewall_groups.list'],
  args: { group: GROUP, rule: arg('Its id, or its number in `firewall describe`.') },
  options: { yes: YES_OPTION },
  example: 'skerry firewall rule delete web 1 --yes',
  run: async ({ skerry, terminal }, { group, rule, yes }) => {
    const found = await findFirewallGroup(skerry, group);
    const one = findRule(found, rule);
    await confirm(
      terminal,
      yes,
      `delete the rule "${formatRule(one)}" (${one.id}) of firewall group ${found.name}`,
    );
    await skerry.firewallRules.delete(found.id, one.id);
    terminal.note(`The rule "${formatRule(one)}" is deleted.`);
  },
});

function findRule({ name, rules: held }: FirewallGroup, text: string): FirewallRule {
  const one =
    held.find(({ id }) => id === text) ?? (/^\d{1,4}$/.test(text) ? held[Number(text) - 1] : undefined);
  if (one) return one;
  throw new Failure('not_found', `firewall group ${name} has no rule "${text}", only ${held.length} in all`);
}

export const FIREWALL_RULES: readonly Command[] = [add, set, remove];
