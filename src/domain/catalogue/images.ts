/** Official images by their name. */
import { parseId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type ImageRow, listOfficialImages } from '../../store/catalogue/catalogue.ts';

/** Such as `debian-13`, or `debian-13-minimal` with its variant. */
export function imageName(image: Pick<ImageRow, 'family' | 'version' | 'variant'>): string {
  const name = `${image.family}-${image.version}`;
  return image.variant === null ? name : `${name}-${image.variant}`;
}

/** Finds an official image, also a retired one, by `img_…` or its name. */
export async function findOfficialImage(db: Sql, name: string): Promise<ImageRow | undefined> {
  const id = parseId('image', name);
  return (await listOfficialImages(db)).find((row) => (id ? row.id === id : imageName(row) === name));
}

/** Fails with an OperatorError. */
export async function requireOfficialImage(db: Sql, name: string): Promise<ImageRow> {
  const found = await findOfficialImage(db, name);
  if (!found) throw new OperatorError('image not found: enter its id, or a name such as debian-13');
  return found;
}
