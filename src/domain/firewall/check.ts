/** What a schema cannot say of a group and its rules. Every field at fault is named at once, as 400. */
import { cidrText, parseCidr } from '../../kernel/cidr.ts';
import { type ErrorItem, invalid, quotaReached } from '../../kernel/fail.ts';
import { isPrintable, readName } from '../../kernel/printable.ts';
import {
  type FirewallGroupBody,
  type FirewallRule,
  type FirewallRuleBody,
  PORT_PROTOS,
} from '../../spec/schemas/firewall.ts';
import type { Service } from '../context.ts';
import { portFault } from './ports.ts';

/** A rule without fault, which has no id yet; its source is in canonical form. */
export type CheckedRule = Omit<FirewallRule, 'id'>;

const WHAT_IS_RIGHT =
  'port is one port, a comma list or a range low-high of 1 to 65535, with tcp and udp only; source is a CIDR ' +
  'without host bits, such as 203.0.113.0/24, 203.0.113.7/32 or ::/0.';

/** The rule of POST …/rules. */
export function checkRule(body: FirewallRuleBody): CheckedRule {
  const faults = ruleFaults(body, '');
  if (faults.length > 0) invalid(faults, WHAT_IS_RIGHT);
  return checked(body);
}

/** The rules of a list, in its order. More of them than the quota are `limit_reached`. */
export function checkRules(service: Service, rules: readonly FirewallRuleBody[]): readonly CheckedRule[] {
  const faults = faultsOf(rules);
  if (faults.length > 0) invalid(faults, WHAT_IS_RIGHT);
  const limit = service.settings.quotas.rulesPerGroup;
  if (rules.length > limit) quotaReached('rulesPerGroup', limit, { field: 'rules' });
  return rules.map(checked);
}

/** What a new group is made of. */
export function checkGroup(
  service: Service,
  body: FirewallGroupBody,
): { readonly name: string; readonly rules: readonly CheckedRule[] } {
  const rules = body.rules ?? [];
  const name = readName(body.name);
  if (name === undefined) invalid([{ field: 'name', issue: 'invalid_format' }, ...faultsOf(rules)]);
  return { name, rules: checkRules(service, rules) };
}

function faultsOf(rules: readonly FirewallRuleBody[]): ErrorItem[] {
  return rules.flatMap((rule, index) => ruleFaults(rule, `rules.${index}.`));
}

function ruleFaults(rule: FirewallRuleBody, prefix: string): ErrorItem[] {
  const { port = null, note = null } = rule;
  const faults: (ErrorItem | null)[] = [];
  if (port !== null) {
    const field = `${prefix}port`;
    faults.push(
      PORT_PROTOS.includes(rule.proto) ? portFault(port, field) : { field, issue: 'invalid_value' },
    );
  }
  if (!parseCidr(rule.source)) faults.push({ field: `${prefix}source`, issue: 'invalid_format' });
  if (note !== null && !isPrintable(note)) faults.push({ field: `${prefix}note`, issue: 'invalid_format' });
  return faults.filter((fault) => fault !== null);
}

function checked(rule: FirewallRuleBody): CheckedRule {
  const { direction, proto, port = null, action, note = null } = rule;
  const block = parseCidr(rule.source);
  if (!block) throw new Error('a rule that was not checked');
  return { direction, proto, port, source: cidrText(block), action, note };
}
