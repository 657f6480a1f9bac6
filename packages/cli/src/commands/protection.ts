/** The options that protect a resource against the customer's own commands. */
import { omitUndefined } from '../lists.ts';
import { booleanOption } from '../options.ts';
import type { Column } from '../output/format.ts';

export const DELETE_PROTECTION = booleanOption('Refuse to delete it');
export const REBUILD_PROTECTION = booleanOption('Refuse to rebuild it or to restore a snapshot to it');

interface Protection {
  readonly delete?: boolean;
  readonly rebuild?: boolean;
}

interface GivenOptions {
  readonly deleteProtection: boolean | undefined;
  readonly rebuildProtection?: boolean | undefined;
}

/** Returns the field of a body, with only the given members; an empty object if there are none. */
export function protectionField(given: GivenOptions): { protection?: Protection } {
  const protection = omitUndefined({ delete: given.deleteProtection, rebuild: given.rebuildProtection });
  return Object.keys(protection).length === 0 ? {} : { protection };
}

/** Lists the protections that are on: `delete,rebuild`. */
export function protectionColumn<T extends { readonly protection: Protection }>(): Column<T> {
  return {
    name: 'protection',
    // A service before API 1.7 has no protection.
    value: ({ protection = {} }) =>
      Object.entries(protection).flatMap(([name, isOn]) => (isOn ? [name] : [])),
    hidden: true,
  };
}
