/**
 * A firewall rule as one line: direction, protocol, ports, source, action, and an optional note after `#`.
 *
 *   in tcp 22 203.0.113.0/24 accept # the office
 *   in udp all 0.0.0.0/0 drop
 *   in icmp ::/0 accept
 *
 * tcp and udp have ports: one, a comma-separated list, a range, or `all`. icmp and any have none. This only
 * assigns the words to fields; the service validates their values.
 */
import type { CreateFirewallRule, FirewallRule } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { readText } from '../../files.ts';
import type { Option } from '../../options.ts';
import { loadYaml } from '../../output/output.ts';

const WITH_PORTS: readonly string[] = ['tcp', 'udp'];
const WITHOUT_PORTS: readonly string[] = ['icmp', 'any'];
const DIRECTIONS: readonly string[] = ['in', 'out'];
const ACTIONS: readonly string[] = ['accept', 'drop', 'reject'];
const ALL_PORTS = 'all';

export const RULE_HELP = `Rule syntax: direction, protocol, ports, source, action, and an optional # note.
  in tcp 22 203.0.113.0/24 accept # the office
  in tcp 80,443 0.0.0.0/0 accept
  in udp 60000-61000 ::/0 accept
  in icmp 0.0.0.0/0 accept
Direction: in or out. Protocol: tcp, udp, icmp, or any. Action: accept, drop, or reject. Only tcp and
udp have ports: one, a comma-separated list, a range, or "all". The source is the remote side as a CIDR,
for both directions: 0.0.0.0/0 is all of IPv4, ::/0 all of IPv6. First match wins.`;

/** `--rule 'in tcp 22 203.0.113.0/24 accept' --rule …`, in this order. */
export function ruleOption(about: string): Option<readonly CreateFirewallRule[] | undefined> {
  return {
    value: 'rule',
    about,
    repeatable: true,
    parse: (texts, name) => texts?.map((text) => parseRule(text, name)),
  };
}

/** Parses a line. `name` is its origin, for the error message. */
export function parseRule(text: string, name: string): CreateFirewallRule {
  const [line = '', ...remarks] = text.split('#');
  const note = remarks.join('#').trim();
  const [direction = '', proto = '', ...more] = line.trim().split(/\s+/);
  requireOneOf(direction, DIRECTIONS, 'direction', text, name);
  requireOneOf(proto, [...WITH_PORTS, ...WITHOUT_PORTS], 'protocol', text, name);
  const hasPorts = WITH_PORTS.includes(proto);
  const [port, source, action, ...excess] = hasPorts ? more : [ALL_PORTS, ...more];
  if (source === undefined || action === undefined || excess.length > 0) {
    const shape = hasPorts ? 'ports source action' : 'source action';
    throw new Failure('usage', `${name}: "${text}" is invalid; use "${direction} ${proto} ${shape}"`);
  }
  requireOneOf(action, ACTIONS, 'action', text, name);
  return {
    direction: direction as CreateFirewallRule['direction'],
    proto: proto as CreateFirewallRule['proto'],
    port: port === ALL_PORTS || port === undefined ? null : port,
    source,
    action: action as CreateFirewallRule['action'],
    note: note === '' ? null : note,
  };
}

/** Formats a rule as a line, without its note. */
export function formatRule({ direction, proto, port, source, action }: FirewallRule): string {
  const ports = WITH_PORTS.includes(proto) ? [port ?? ALL_PORTS] : [];
  return [direction, proto, ...ports, source, action].join(' ');
}

function requireOneOf(
  word: string,
  words: readonly string[],
  field: string,
  text: string,
  name: string,
): void {
  if (words.includes(word)) return;
  throw new Failure(
    'usage',
    `${name}: "${text}" has no valid ${field} in its place; use one of: ${words.join(', ')}`,
  );
}

/** Four times the size of 100 rules with long notes. */
const FILE_MAX_BYTES = 256 * 1024;

/** Reads a JSON or YAML list of rules, or an object with it as `rules`, as `firewall describe` prints it. */
export async function readRulesFile(path: string): Promise<readonly CreateFirewallRule[]> {
  const read = parseYaml(await readText(path, FILE_MAX_BYTES), path);
  const list = Array.isArray(read) ? read : (read as { readonly rules?: unknown } | null)?.rules;
  if (Array.isArray(list)) return list.map((rule, at) => toRule(rule, `${path}, rule ${at + 1}`));
  throw new Failure('usage', `${path} must contain a list of rules, or an object with the list as "rules"`);
}

/** Accepts a line or an API object; drops the `id` of an existing rule. The service validates the fields. */
function toRule(rule: unknown, name: string): CreateFirewallRule {
  if (typeof rule === 'string') return parseRule(rule, name);
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) {
    throw new Failure('usage', `${name} must be an object or a line of text`);
  }
  const { id: _written, ...fields } = rule as { readonly id?: unknown; readonly port?: unknown };
  // YAML reads `port: 22` as a number.
  const port = typeof fields.port === 'number' ? { port: String(fields.port) } : {};
  return { ...fields, ...port } as CreateFirewallRule;
}

function parseYaml(text: string, path: string): unknown {
  try {
    // JSON is YAML.
    return loadYaml().parse(text);
  } catch (error) {
    throw new Failure('usage', `${path} is not valid JSON or YAML: ${firstLine((error as Error).message)}`);
  }
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
