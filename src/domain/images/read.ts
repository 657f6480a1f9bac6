/** Reads the images that a customer can see: available official ones, and their own. */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { ARCHES, Image } from '../../spec/schemas/image.ts';
import {
  findVisibleImage,
  type ImageViewer,
  pageVisibleImages,
  type VisibleImageRow,
} from '../../store/images/visible.ts';
import type { CustomerActor, Service } from '../context.ts';

export async function listImages(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<Image>> {
  const { rows, next } = await pageVisibleImages(
    service.db,
    { ...imageReader(service, actor), reach: actor.limits?.reach },
    page,
  );
  return { items: rows.map(imageObject), next };
}

/**
 * Reads an image by its public id; refuses with `not_found` an unknown or removed one, or another customer's.
 */
export async function getImage(service: Service, actor: CustomerActor, shownId: string): Promise<Image> {
  const image = readImageId(shownId) ?? notFound('image');
  return imageObject(
    (await findVisibleImage(service.db, imageReader(service, actor), image)) ?? notFound('image'),
  );
}

/** Returns the stored id behind `img_…` or `custom_…`; undefined for any other text. */
export function readImageId(shownId: string): { id: string; type: 'official' | 'custom' } | undefined {
  const official = parseId('image', shownId);
  if (official !== undefined) return { id: official, type: 'official' };
  const custom = parseId('customImage', shownId);
  return custom === undefined ? undefined : { id: custom, type: 'custom' };
}

function imageReader(service: Service, actor: CustomerActor): ImageViewer {
  return {
    customerId: actor.customerId,
    deprecationCutoff: imageRemovalCutoff(service.clock.now()),
    importedOnly: service.compute.images !== null,
  };
}

/** An image as the REST contract shows it. */
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
    // Nothing runs on an image: what its upload began has ended.
    action: null,
  };
}

/** Returns `img_…` or `custom_…`. */
export function showImageId(image: { readonly id: string; readonly type: 'official' | 'custom' }): string {
  return formatId(image.type === 'custom' ? 'customImage' : 'image', image.id);
}

/**
 * The retention of deprecated images (SPEC "Image", DECISIONS "Images"). Returns the latest `deprecated_at`
 * (`YYYY-MM-DD`, UTC) whose images are removed: 90 days have passed.
 */
export function imageRemovalCutoff(now: Date): string {
  return new Date(now.getTime() - LIMITS.deprecatedImageDays * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the day (UTC) on which an image that is deprecated since the given day is removed. */
export function imageRemovalDay(deprecatedAt: string): string {
  return new Date(Date.parse(deprecatedAt) + LIMITS.deprecatedImageDays * DAY_MS).toISOString().slice(0, 10);
}

/** Whether the image is removed. Until then it can be read. */
export function isImageRemoved(deprecatedAt: string | null, now: Date): boolean {
  return deprecatedAt !== null && deprecatedAt <= imageRemovalCutoff(now);
}
