/** Images as a file states them: an id, `debian-12`, or `debian` for any version of it. */
import type { ActualImage } from '../actual.ts';

/** What would be installed now: the newest that fits; undefined: there is none. */
export function selectImage(stated: string, images: readonly ActualImage[]): ActualImage | undefined {
  const fitting = images.filter((image) => !image.deprecated_at && matchesImage(stated, image));
  return [...fitting].sort((one, other) => other.released_at.localeCompare(one.released_at))[0];
}

/**
 * Whether what is installed is what the file states; null where it cannot be told, because the installed image is no longer known.
 * A family alone fits every version: an image that moved on is no reason to lose a disk.
 */
export function isInstalled(stated: string, imageId: string, images: readonly ActualImage[]): boolean | null {
  if (stated === imageId) return true;
  if (isId(stated)) return false;
  const image = images.find(({ id }) => id === imageId);
  return image === undefined ? null : matchesImage(stated, image);
}

/** `debian-12`, or the id where the image is not known. */
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
