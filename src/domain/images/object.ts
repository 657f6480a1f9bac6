/** An image as the REST contract shows it. */
import { showId } from '../../kernel/ids.ts';
import type { ARCHES, Image } from '../../spec/schemas/image.ts';
import type { ShownImageRow } from '../../store/shown-images.ts';

export function imageObject(row: ShownImageRow): Image {
  return {
    id: showImageId(row),
    object: 'image',
    type: row.type,
    name: row.name,
    family: row.family,
    version: row.version,
    variant: row.variant,
    arch: row.arch as (typeof ARCHES)[number][],
    size_gb: Number(row.size_gb),
    cloud_init: row.cloud_init,
    released_at: row.released_at,
    deprecated_at: row.deprecated_at,
  };
}

/** `img_…` or `custom_…`. */
export function showImageId(image: { readonly id: string; readonly type: 'official' | 'custom' }): string {
  return showId(image.type === 'custom' ? 'customImage' : 'image', image.id);
}
