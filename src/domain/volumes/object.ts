import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import type { VolumeRow } from '../../store/volumes/volumes.ts';

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
    created_at: formatRfc3339(row.created_at),
  };
}
