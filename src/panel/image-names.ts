/** Display names of images in choice lists. */
import type { Image } from '../spec/schemas/image.ts';

export function formatImageName(image: Image): string {
  if (image.type === 'custom') return image.name ?? `custom image ${image.version}`.trim();
  return [image.family, image.version, image.variant].filter(Boolean).join(' ');
}

/** Returns the choices for a select. */
export function imageChoices(images: readonly Image[]): (readonly [value: string, name: string])[] {
  return images.map((image) => [
    image.id,
    image.type === 'custom' ? `Your image: ${formatImageName(image)}` : formatImageName(image),
  ]);
}
