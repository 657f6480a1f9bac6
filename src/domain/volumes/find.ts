import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import { findVolume, pageVolumes as listRows } from '../../store/volumes/volumes.ts';
import type { CustomerActor, Service } from '../context.ts';
import { volumeObject } from './object.ts';

/** Reads a volume by its public id. An unknown, malformed, or foreign one is `not_found`. */
export async function getVolume(service: Service, actor: CustomerActor, shownId: string): Promise<Volume> {
  const id = parseId('volume', shownId) ?? notFound('volume');
  return volumeObject((await findVolume(service.db, actor.customerId, id)) ?? notFound('volume'));
}

export async function listVolumes(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: Volume[]; next: PagePosition | null }> {
  const { rows, next } = await listRows(service.db, actor.customerId, page);
  return { items: rows.map(volumeObject), next };
}
