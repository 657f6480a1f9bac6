/** Checks the operator's input before the inventory is written. */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { listRegions } from '../../store/catalogue/catalogue.ts';
import { findTakenNames } from '../../store/inventory/hosts.ts';

/** The name of a host or machine, as known to its compute driver. */
export const NAME_PATTERN = '^[a-z0-9][a-z0-9.-]{0,62}$';

export async function requireRegion(tx: Sql, id: string): Promise<void> {
  const ids = (await listRegions(tx)).filter((region) => region.active).map((region) => region.id);
  if (!ids.includes(id)) throw new OperatorError(`region ${id} not found: ${describeKnown(ids)}`);
}

export async function requireUnusedNames(tx: Sql, names: readonly string[]): Promise<void> {
  const invalidName = names.find((name) => !new RegExp(NAME_PATTERN).test(name));
  if (invalidName !== undefined) {
    throw new OperatorError(
      `invalid name ${invalidName}: use at most 63 lowercase letters, digits, dots, and dashes`,
    );
  }
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new OperatorError(`${duplicate} is a duplicate: use each name once`);
  const [taken] = await findTakenNames(tx, names);
  if (taken !== undefined) throw new OperatorError(`a host or machine named ${taken} already exists`);
}

/** Returns `choose a, b`, or the step that creates some. */
export function describeKnown(ids: readonly string[]): string {
  return ids.length > 0 ? `choose one of ${ids.join(', ')}` : 'load a catalog first';
}
