/** What the inventory's verbs ask before they write: the operator's words must mean something. */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { listRegions } from '../../store/catalogue.ts';
import { findTakenNames } from '../../store/hosts.ts';

/** Hosts and machines: a compute driver knows them by it. */
export const NAME_PATTERN = '^[a-z0-9][a-z0-9.-]{0,62}$';

export async function requireRegion(tx: Sql, id: string): Promise<void> {
  const ids = (await listRegions(tx)).filter((region) => region.active).map((region) => region.id);
  if (!ids.includes(id)) throw new OperatorError(`there is no region ${id}: ${describeKnown(ids)}`);
}

export async function requireUnusedNames(tx: Sql, names: readonly string[]): Promise<void> {
  const invalidName = names.find((name) => !new RegExp(NAME_PATTERN).test(name));
  if (invalidName !== undefined) {
    throw new OperatorError(
      `${invalidName} is not a name: give at most 63 lower-case letters, digits, dots and dashes`,
    );
  }
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new OperatorError(`${duplicate} is named twice`);
  const [taken] = await findTakenNames(tx, names);
  if (taken !== undefined) throw new OperatorError(`there is a host or a machine named ${taken} already`);
}

/** `there are a, b`, or how to get some. */
export function describeKnown(ids: readonly string[]): string {
  return ids.length > 0 ? `there are ${ids.join(', ')}` : 'load a catalogue first';
}
