/** Resolves the SSH keys that a request names to the form that a server stores. */
import { unknownReference } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findOwnKeys } from '../../store/servers/reinstalls.ts';

export interface ChosenKeys {
  readonly ids: readonly string[];
  /** The key texts, in the same order. The server keeps them even if the customer deletes the keys. */
  readonly publicKeys: readonly string[];
}

/** Deduplicates the keys. Refuses a key that is not the customer's by its position, such as `ssh_keys.1`. */
export async function chooseKeys(
  tx: Sql,
  customerId: string,
  shownIds: readonly string[],
): Promise<ChosenKeys> {
  const ids = shownIds.map((shown) => parseId('sshKey', shown));
  const known = ids.filter((id) => id !== undefined);
  const rows = await findOwnKeys(tx, customerId, known);
  const publicKeysById = new Map(rows.map((row) => [row.id, row.public_key]));
  for (const [index, id] of ids.entries()) {
    if (id === undefined || !publicKeysById.has(id)) unknownReference(`ssh_keys.${index}`);
  }
  const uniqueIds = [...new Set(known)];
  return { ids: uniqueIds, publicKeys: uniqueIds.map((id) => publicKeysById.get(id) ?? '') };
}
