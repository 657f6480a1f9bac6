/** Rules from a file: JSON or YAML, a list of rules, or an object that has one as `rules`, such as `firewall describe -o json`. */
import type { CreateFirewallRule } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { readText } from '../../files.ts';
import { loadYaml } from '../../output/yaml.ts';
import { parseRule } from './rules.ts';

/** 100 rules with long notes are a quarter of this. */
const FILE_MAX_BYTES = 256 * 1024;

export async function readRulesFile(path: string): Promise<readonly CreateFirewallRule[]> {
  const read = parseYaml(await readText(path, FILE_MAX_BYTES), path);
  const list = Array.isArray(read) ? read : (read as { readonly rules?: unknown } | null)?.rules;
  if (Array.isArray(list)) return list.map((rule, at) => toRule(rule, `${path}, rule ${at + 1}`));
  throw new Failure('usage', `${path} is neither a list of rules nor an object that has one as "rules"`);
}

/** An object of the contract, the `id` of one that the service wrote left out, or a line. What is in it the service checks. */
function toRule(rule: unknown, name: string): CreateFirewallRule {
  if (typeof rule === 'string') return parseRule(rule, name);
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) {
    throw new Failure('usage', `${name} is neither an object nor a line`);
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
    throw new Failure('usage', `${path} is neither JSON nor YAML: ${firstLine((error as Error).message)}`);
  }
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
