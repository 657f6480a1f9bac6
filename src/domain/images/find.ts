/** Reads the images that a customer can see: available official ones, and their own. */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Image } from '../../spec/schemas/image.ts';
import { findVisibleImage, type ImageViewer, pageVisibleImages } from '../../store/images/visible.ts';
import type { CustomerActor, Service } from '../context.ts';
import { imageRemovalCutoff } from './deprecation.ts';
import { imageObject } from './object.ts';

export async function listImages(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: Image[]; next: PagePosition | null }> {
  const { rows, next } = await pageVisibleImages(service.db, imageReader(service, actor), page);
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
