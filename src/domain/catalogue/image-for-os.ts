/** Resolves the `os` of the session API (DECISIONS "`os` (A)"). */
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findInstallableImage, type InstallableImageRow } from '../../store/catalogue/catalogue.ts';

/**
 * Returns the official image for an image id, `family-version` (`debian-12`), `family+version` (`debian12`,
 * `ubuntu24.04`, `ubuntu2404`), or a bare family (the newest), ignoring case. Skips deprecated images and,
 * with `imported`, images without their disk.
 */
export async function findImageForOs(
  tx: Sql,
  os: string,
  { imported = false }: { readonly imported?: boolean } = {},
): Promise<InstallableImageRow | undefined> {
  const name = os.toLowerCase();
  return await findInstallableImage(tx, { id: parseId('image', name) ?? null, name, imported });
}
