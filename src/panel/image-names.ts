/** What images are called in lists to choose from. */
import type { Image } from '../spec/schemas/image.ts';

export function formatImageName(image: Image): string {
  if (image.type === 'custom') return image.name ?? `own image ${image.version}`.trim();
  return [image.family, image.version, image.variant].filter(Boolean).join(' ');
}

/** For a select. */
export function imageChoices(images: readonly Image[]): (readonly [value: string, name: string])[] {
  return images.map((image) => [
    image.id,
    image.type === 'custom' ? `your image: ${formatImageName(image)}` : formatImageName(image),
  ]);
}
