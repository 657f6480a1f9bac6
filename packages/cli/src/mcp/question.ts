/** The question before a call destroys or charges. */
import type { Skerry } from '@skerry/sdk';
import { printable } from '../output/text.ts';
import { callOperation } from './call.ts';
import type { Arguments, Operation } from './contract.ts';
import { effectOf } from './effects.ts';
import type { Price } from './price.ts';

/** Longer arguments, such as user data, are cut. */
const ARGUMENTS_MAX = 1_000;
/** Parts of another resource, which has the ID in the path. */
const OWNERS: Readonly<Record<string, string>> = {
  firewall_rules: 'firewall_groups',
  backup_policies: 'servers',
  deliveries: 'webhooks',
};

export interface Call {
  readonly skerry: Skerry;
  readonly contract: readonly Operation[];
  readonly operation: Operation;
  readonly given: Arguments;
  readonly signal: AbortSignal;
}

/** Null: the call neither destroys nor charges anything. */
export async function questionFor(call: Call, price: Price | null): Promise<string | null> {
  const { operation, given } = call;
  const { consequence } = effectOf(operation);
  if (!price?.charges && !consequence?.('', given)) return null;
  const name = await describeResource(call);
  const action = consequence?.(name, given) ?? `${lowerFirst(operation.summary)}${name ? `: ${name}` : ''}`;
  const details = formatArguments(operation, given);
  return [`This will ${action}.`, price?.text, details].filter(Boolean).join(' ');
}

/** `server "web-1" (srv_…)`: a person knows resources by their names. Fails if there is no such resource. */
async function describeResource({ skerry, contract, operation, given, signal }: Call): Promise<string> {
  const [idName] = operation.ids;
  if (idName === undefined) return '';
  const family = operation.id.split('.')[0] ?? '';
  const owner = OWNERS[family] ?? family;
  const kind = owner.replace(/s$/, '').replaceAll('_', ' ');
  const get = contract.find(({ id }) => id === `${owner}.get`);
  if (!get) return `${kind} ${given[idName]}`;
  const found = await callOperation(skerry, get, { [get.ids[0] ?? '']: given[idName] }, signal);
  const { name } = found as { readonly name?: string | null };
  return printable(`${kind} ${name ? `"${name}" ` : ''}(${given[idName]})`);
}

function formatArguments({ ids }: Operation, given: Arguments): string {
  const shown = Object.entries(given).filter(([name]) => !ids.includes(name));
  if (shown.length === 0) return '';
  const text = printable(JSON.stringify(Object.fromEntries(shown)));
  return `Arguments: ${text.length > ARGUMENTS_MAX ? `${text.slice(0, ARGUMENTS_MAX)}…` : text}`;
}

function lowerFirst(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}
