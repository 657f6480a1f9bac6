import type { FirewallGroup, FirewallRule } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { FIND_FIREWALL_GROUP, findFirewallGroup } from '../../find.ts';
import { arg, restArg, text } from '../../options.ts';
import { confirm, YES_OPTION } from '../../terminal/terminal.ts';
import { FIREWALL_GROUP_COLUMNS, FIREWALL_RULE_COLUMNS, showGroup } from './groups.ts';
import { formatRule, parseRule, RULE_HELP, readRulesFile, ruleOption } from './rule-text.ts';

const GROUP = arg('Name or ID of the firewall group', { completionKind: 'firewall' });

const add = command({
  name: 'firewall rule add',
  aliases: ['create'],
  about: 'Append a rule to a firewall group',
  help: RULE_HELP,
  operations: ['firewall_rules.create', ...FIND_FIREWALL_GROUP],
  args: { group: GROUP, rule: restArg('The rule; quotes are optional') },
  options: { note: text('text', 'Note to the rule') },
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
  about: 'Replace all rules of a firewall group',
  help:
    `${RULE_HELP}\n\n` +
    'The file is JSON or YAML: a list of rules, or an object with such a list as "rules". A rule is a\n' +
    'line as above or an object as in the API. In YAML, quote a line that has a note. You can edit the\n' +
    'output of `firewall describe -o yaml` and pass it as the file.',
  operations: ['firewall_rules.replace', ...FIND_FIREWALL_GROUP],
  args: { group: GROUP },
  options: {
    file: text('file', 'File with the rules; - is stdin'),
    rule: ruleOption('Rule; rules apply in this order, first match wins'),
    yes: YES_OPTION,
  },
  columns: FIREWALL_GROUP_COLUMNS,
  example:
    "skerry firewall rule set web --rule 'in tcp 80,443 0.0.0.0/0 accept' " +
    "--rule 'in icmp 0.0.0.0/0 accept' --yes",
  run: async ({ skerry, output, terminal }, { group, file, rule, yes }) => {
    if ((file === undefined) === (rule === undefined)) {
      throw new Failure('usage', 'specify the rules with either --file or --rule');
    }
    const wanted = file === undefined ? (rule ?? []) : await readRulesFile(file);
    const found = await findFirewallGroup(skerry, group);
    const change = `replace all ${found.rules.length} rules of firewall group ${found.name} (${found.id})`;
    await confirm(terminal, yes, `${change} with ${wanted.length} new rules`);
    showGroup(output, await skerry.firewallRules.replace(found.id, { rules: [...wanted] }));
  },
});

const remove = command({
  name: 'firewall rule delete',
  aliases: ['rm'],
  about: 'Delete a rule of a firewall group',
  operations: ['firewall_rules.delete', ...FIND_FIREWALL_GROUP],
  args: { group: GROUP, rule: arg('ID of the rule, or its number in `firewall describe`') },
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
    terminal.note(`Rule "${formatRule(one)}" deleted.`);
  },
});

function findRule({ name, rules }: FirewallGroup, text: string): FirewallRule {
  const one =
    rules.find(({ id }) => id === text) ?? (/^\d{1,4}$/.test(text) ? rules[Number(text) - 1] : undefined);
  if (one) return one;
  throw new Failure(
    'not_found',
    `rule "${text}" not found; firewall group ${name} has ${rules.length} rules`,
  );
}

export const FIREWALL_RULES: readonly Command[] = [add, set, remove];
