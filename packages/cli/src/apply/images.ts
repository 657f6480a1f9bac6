/** What the `image` of a server names: an image by ID, version, or family, or a snapshot by ID or name. */
import type { ActualImage, ActualSnapshot } from './actual.ts';

export function matchesImage(stated: string, { id, family, version }: ActualImage): boolean {
  if (isImageId(stated)) return stated === id;
  return stated === family || stated === `${family}-${version}`;
}

/** Whether an image has the name, also one that is no longer offered. IDs of images are never snapshots. */
export function isImage(stated: string, images: readonly ActualImage[]): boolean {
  return isImageId(stated) || images.some((image) => matchesImage(stated, image));
}

export function isImageId(stated: string): boolean {
  return stated.startsWith('img_') || stated.startsWith('custom_');
}

/** The snapshots that the file may mean; empty if it names an image. A deleted one may have an ID here. */
export function namedSnapshots(
  stated: string,
  {
    images,
    snapshots,
  }: { readonly images: readonly ActualImage[]; readonly snapshots: readonly ActualSnapshot[] },
): readonly ActualSnapshot[] {
  if (isImage(stated, images)) return [];
  return snapshots.filter(({ id, name }) => id === stated || name === stated);
}
