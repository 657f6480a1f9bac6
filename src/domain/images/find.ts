/** Images that a customer may see: the official ones that are offered, and his own. */
import { notFound } from '../../kernel/fail.ts';
import { readId } from '../../kernel/ids.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Image } from '../../spec/schemas/image.ts';
import { findShownImage, type ImageReader, pageOfImages } from '../../store/shown-images.ts';
import type { CustomerActor, Service } from '../context.ts';
import { imageGoneDay } from './deprecation.ts';
import { imageObject } from './object.ts';

export async function listImages(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: Image[]; next: PagePosition | null }> {
  const { rows, next } = await pageOfImages(service.db, readerOf(service, actor), page);
  return { items: rows.map(imageObject), next };
}

/** By its shown id; refuses with `not_found` what is unknown, removed or another customer's. */
export async function getImage(service: Service, actor: CustomerActor, shownId: string): Promise<Image> {
  const image = readImageId(shownId) ?? notFound('image');
  return imageObject(
    (await findShownImage(service.db, readerOf(service, actor), image)) ?? notFound('image'),
  );
}

/** The stored id behind `img_…` or `custom_…`; undefined when it is neither. */
export function readImageId(shownId: string): { id: string; type: 'official' | 'custom' } | undefined {
  const official = readId('image', shownId);
  if (official !== undefined) return { id: official, type: 'official' };
  const custom = readId('customImage', shownId);
  return custom === undefined ? undefined : { id: custom, type: 'custom' };
}

function readerOf(service: Service, actor: CustomerActor): ImageReader {
  return {
    customerId: actor.customerId,
    goneDay: imageGoneDay(service.clock.now()),
    importedOnly: service.compute.images !== null,
  };
}
