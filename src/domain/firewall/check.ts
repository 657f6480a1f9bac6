/** Checks rules that a schema cannot express. Reports all invalid fields at once, as 400. */
import { formatCidr, parseCidr } from '../../kernel/cidr.ts';
import { type ErrorItem, invalidRequest, quotaExceeded } from '../../kernel/fail.ts';
import { isPrintable, parseDisplayName } from '../../kernel/printable.ts';
import { PATTERNS } from '../../spec/patterns.ts';
import {
  type FirewallGroupBody,
  type FirewallGroupPatch,
  type FirewallRule,
  type FirewallRuleBody,
  PORT_PROTOS,
} from '../../spec/schemas/firewall.ts';
import type { Service } from '../context.ts';

/** A valid rule without an id. Its source is in canonical form. */
export type CheckedRule = Omit<FirewallRule, 'id'>;

const RULE_FORMAT_HINT =
  'port must be a port, a comma-separated list, or a range low-high within 1 to 65535, for tcp and udp ' +
  'only; source must be a CIDR without host bits, such as 203.0.113.0/24, 203.0.113.7/32 or ::/0.';

/** Checks a single rule. */
export function checkRule(body: FirewallRuleBody): CheckedRule {
  const errors = ruleErrors(body, '');
  if (errors.length > 0) invalidRequest(errors, RULE_FORMAT_HINT);
  return toCheckedRule(body);
}

/** Checks a list of rules. Fails with `limit_reached` above the quota. */
export function checkRules(service: Service, rules: readonly FirewallRuleBody[]): readonly CheckedRule[] {
  const errors = listRuleErrors(rules);
  if (errors.length > 0) invalidRequest(errors, RULE_FORMAT_HINT);
  const limit = service.settings.quotas.rulesPerGroup;
  if (rules.length > limit) quotaExceeded('rulesPerGroup', limit, { field: 'rules' });
  return rules.map(toCheckedRule);
}

/** Checks a new group and returns its name and rules. */
export function checkGroup(
  service: Service,
  body: FirewallGroupBody,
): { readonly name: string; readonly rules: readonly CheckedRule[] } {
  const rules = body.rules ?? [];
  const name = parseDisplayName(body.name);
  if (name === undefined)
    invalidRequest([{ field: 'name', issue: 'invalid_format' }, ...listRuleErrors(rules)]);
  return { name, rules: checkRules(service, rules) };
}

/** Checks that no server is to be both attached and detached. */
export function checkServerLists({ attach = [], detach = [] }: FirewallGroupPatch): void {
  const attached = new Set(attach);
  const index = detach.findIndex((id) => attached.has(id));
  if (index === -1) return;
  invalidRequest(
    [{ field: `detach.${index}`, issue: 'invalid_value' }],
    'A server is in both attach and detach. Send it in one of them.',
  );
}

function listRuleErrors(rules: readonly FirewallRuleBody[]): ErrorItem[] {
  return rules.flatMap((rule, index) => ruleErrors(rule, `rules.${index}.`));
}

function ruleErrors(rule: FirewallRuleBody, prefix: string): ErrorItem[] {
  const { port = null, note = null } = rule;
  const errors: (ErrorItem | null)[] = [];
  if (port !== null) {
    const field = `${prefix}port`;
    errors.push(
      PORT_PROTOS.includes(rule.proto) ? portError(port, field) : { field, issue: 'invalid_value' },
    );
  }
  if (!parseCidr(rule.source)) errors.push({ field: `${prefix}source`, issue: 'invalid_format' });
  if (note !== null && !isPrintable(note)) errors.push({ field: `${prefix}note`, issue: 'invalid_format' });
  return errors.filter((error) => error !== null);
}

function toCheckedRule(rule: FirewallRuleBody): CheckedRule {
  const { direction, proto, port = null, action, note = null } = rule;
  const block = parseCidr(rule.source);
  if (!block) throw new Error('the rule was not checked');
  return { direction, proto, port, source: formatCidr(block), action, note };
}

/** The port of a rule as text is one port, a comma-separated list, or a range `<low>-<high>`. */
const PORT_MAX = 65_535;
const PORT_FORMAT = new RegExp(PATTERNS.ports.pattern);

/** Returns the inclusive ranges of a valid text. */
export function portRanges(text: string): [low: number, high: number][] {
  return text.split(',').map((part) => {
    const [low = 0, high = low] = part.split('-').map(Number);
    return [low, high];
  });
}

/** Returns the error of a port text; null if it is valid. */
function portError(text: string, field: string): ErrorItem | null {
  if (!PORT_FORMAT.test(text)) return { field, issue: 'invalid_format' };
  const ranges = portRanges(text);
  if (ranges.flat().some((port) => port > PORT_MAX)) return { field, issue: 'max', max: PORT_MAX };
  return ranges.some(([low, high]) => low > high) ? { field, issue: 'invalid_format' } : null;
}
