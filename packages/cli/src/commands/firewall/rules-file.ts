/**
 * Reads rules from JSON or YAML: a list, or an object with the list as `rules`, as `firewall describe` prints
 * it.
 */
import type { CreateFirewallRule } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { readText } from '../../files.ts';
import { loadYaml } from '../../output/yaml.ts';
import { parseRule } from './rules.ts';

/** Four times the size of 100 rules with long notes. */
const FILE_MAX_BYTES = 256 * 1024;

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
