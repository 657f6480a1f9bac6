/** An image as the REST contract shows it. */
import { formatId } from '../../kernel/ids.ts';
import type { ARCHES, Image } from '../../spec/schemas/image.ts';
import type { VisibleImageRow } from '../../store/images/visible.ts';

export function imageObject(row: VisibleImageRow): Image {
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

/** Returns `img_…` or `custom_…`. */
export function showImageId(image: { readonly id: string; readonly type: 'official' | 'custom' }): string {
  return formatId(image.type === 'custom' ? 'customImage' : 'image', image.id);
}
