/** The `image` of a server in a file: an image by ID, version, or family, or a snapshot by ID or name. */
import type { Image, Snapshot } from '@skerry/sdk';

type NamedImage = Pick<Image, 'id' | 'family' | 'version'>;
type NamedSnapshot = Pick<Snapshot, 'id' | 'name'>;

export function matchesImage(stated: string, { id, family, version }: NamedImage): boolean {
  if (isImageId(stated)) return stated === id;
  return stated === family || stated === `${family}-${version}`;
}

/** Whether an image has the name, offered or not. IDs of images are never snapshots. */
export function isImage(stated: string, images: readonly NamedImage[]): boolean {
  return isImageId(stated) || images.some((image) => matchesImage(stated, image));
}

export function isImageId(stated: string): boolean {
  return stated.startsWith('img_') || stated.startsWith('custom_');
}

/** The snapshots with this ID or name; none if it names an image. */
export function namedSnapshots<S extends NamedSnapshot>(
  stated: string,
  { images, snapshots }: { readonly images: readonly NamedImage[]; readonly snapshots: readonly S[] },
): readonly S[] {
  if (isImage(stated, images)) return [];
  return snapshots.filter(({ id, name }) => id === stated || name === stated);
}
