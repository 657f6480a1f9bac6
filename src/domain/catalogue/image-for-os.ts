/** The `os` of the session surface (DECISIONS "`os` (A)"). */
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findInstallableImage, type InstallableImageRow } from '../../store/catalogue.ts';

/**
 * The official image meant by an image id, `family-version` (`debian-12`), `family+version` (`debian12`,
 * `ubuntu24.04`, `ubuntu2404`) or the bare family (the newest), in any case. Deprecated images are not found, nor with `imported` those without their disk.
 */
export async function findImageForOs(
  tx: Sql,
  os: string,
  { imported = false }: { readonly imported?: boolean } = {},
): Promise<InstallableImageRow | undefined> {
  const name = os.toLowerCase();
  return await findInstallableImage(tx, { id: parseId('image', name) ?? null, name, imported });
}
