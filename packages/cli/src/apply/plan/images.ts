/** Images as a file names them: an ID, `debian-12`, or `debian` for any version. */
import type { ActualImage } from '../actual.ts';

/** Returns the image that would be installed now: the newest match; undefined: there is none. */
export function selectImage(stated: string, images: readonly ActualImage[]): ActualImage | undefined {
  const fitting = images.filter((image) => !image.deprecated_at && matchesImage(stated, image));
  return [...fitting].sort((one, other) => other.released_at.localeCompare(one.released_at))[0];
}

/**
 * Whether the installed image matches the file; null if the installed image is no longer known. A family
 * alone matches every version: a newer version is no reason to erase a disk.
 */
export function isInstalled(stated: string, imageId: string, images: readonly ActualImage[]): boolean | null {
  if (stated === imageId) return true;
  if (isId(stated)) return false;
  const image = images.find(({ id }) => id === imageId);
  return image === undefined ? null : matchesImage(stated, image);
}

/** `debian-12`, or the ID of an unknown image. */
export function formatImage(imageId: string, images: readonly ActualImage[]): string {
  const image = images.find(({ id }) => id === imageId);
  return image ? `${image.family}-${image.version}` : imageId;
}

function matchesImage(stated: string, { id, family, version }: ActualImage): boolean {
  if (isId(stated)) return stated === id;
  return stated === family || stated === `${family}-${version}`;
}

function isId(stated: string): boolean {
  return stated.startsWith('img_') || stated.startsWith('custom_');
}
