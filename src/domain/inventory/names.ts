/** What the inventory's verbs ask before they write: the operator's words must mean something. */
import { Refusal } from '../../kernel/refusal.ts';
import type { Sql } from '../../kernel/sql.ts';
import { listRegions } from '../../store/catalogue.ts';
import { findTakenNames } from '../../store/hosts.ts';

/** Hosts and machines: a compute driver knows them by it. */
export const NAME_PATTERN = '^[a-z0-9][a-z0-9.-]{0,62}$';

export async function requireRegion(tx: Sql, id: string): Promise<void> {
  const ids = (await listRegions(tx)).filter((region) => region.active).map((region) => region.id);
  if (!ids.includes(id)) throw new Refusal(`there is no region ${id}: ${known(ids)}`);
}

export async function requireFreshNames(tx: Sql, names: readonly string[]): Promise<void> {
  const wrong = names.find((name) => !new RegExp(NAME_PATTERN).test(name));
  if (wrong !== undefined) {
    throw new Refusal(`${wrong} is not a name: give at most 63 lower-case letters, digits, dots and dashes`);
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Refusal(`${twice} is named twice`);
  const [taken] = await findTakenNames(tx, names);
  if (taken !== undefined) throw new Refusal(`there is a host or a machine named ${taken} already`);
}

/** `there are a, b`, or how to get some. */
export function known(ids: readonly string[]): string {
  return ids.length > 0 ? `there are ${ids.join(', ')}` : 'load a catalogue first';
}
