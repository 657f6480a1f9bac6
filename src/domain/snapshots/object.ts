import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import type { SnapshotRow } from '../../store/snapshots.ts';

/** A snapshot as the REST contract shows it. */
export function snapshotObject(row: SnapshotRow): Snapshot {
  return {
    id: formatId('snapshot', row.id),
    object: 'snapshot',
    server: formatId('server', row.server_id),
    name: row.name,
    size_gb: Number(row.size_gb),
    status: row.status,
    expires_at: row.expires_at && formatRfc3339(row.expires_at),
    created_at: formatRfc3339(row.created_at),
  };
}
