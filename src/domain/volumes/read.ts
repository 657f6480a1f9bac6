/** Reads a customer's volumes. */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import { findVolume, pageVolumes as listRows, type VolumeRow } from '../../store/volumes/volumes.ts';
import { shownAction } from '../actions/object.ts';
import type { CustomerActor, Service } from '../context.ts';

/** Reads a volume by its public id. An unknown, malformed, or foreign one is `not_found`. */
export async function getVolume(service: Service, actor: CustomerActor, shownId: string): Promise<Volume> {
  const id = parseId('volume', shownId) ?? notFound('volume');
  return volumeObject((await findVolume(service.db, actor.customerId, id)) ?? notFound('volume'));
}

export async function listVolumes(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<Volume>> {
  const { rows, next } = await listRows(service.db, actor.customerId, page, actor.limits?.reach);
  return { items: rows.map(volumeObject), next };
}

/** A volume as the REST contract shows it. */
export function volumeObject(row: VolumeRow): Volume {
  return {
    id: formatId('volume', row.id),
    object: 'volume',
    name: row.name,
    size_gb: row.size_gb,
    region: row.region_id,
    attached_to: row.server_id && formatId('server', row.server_id),
    device: row.device,
    encrypted: row.encrypted,
    filesystem: row.filesystem,
    labels: row.labels,
    protection: { delete: row.protect_delete },
    lost_at: row.lost_at && formatRfc3339(row.lost_at),
    action: shownAction(row),
    created_at: formatRfc3339(row.created_at),
  };
}
