/** The invariants of `skerryd verify`, in one statement that is prepared once. */

import { INVARIANTS } from '../../../src/domain/verify/verify.ts';
import type { Sql } from '../../../src/kernel/sql.ts';

const STATEMENT = INVARIANTS.map(
  ({ name, violations }) =>
    `select '${name.replaceAll(`'`, `''`)}' as name, id::text as id from (${violations}) as found (id)`,
).join(' union all ');

/** Returns each broken invariant with the row that breaks it. */
export async function brokenInvariants(db: Sql): Promise<string[]> {
  const rows = await db.rows<{ name: string; id: string }>(STATEMENT);
  return rows.map(({ name, id }) => `${name} (${id})`);
}
