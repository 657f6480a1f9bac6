import { fail, invalid, quotaReached } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import { readName } from '../../kernel/printable.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Snapshot, SnapshotBody } from '../../spec/schemas/snapshot.ts';
import { lockBalance } from '../../store/ledger.ts';
import type { ServerRow } from '../../store/servers.ts';
import { countSnapshots, countSnapshotsOf, insertSnapshot } from '../../store/snapshots.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { requireExpiry } from '../expiry.ts';
import type { Within } from '../idempotency.ts';
import { recordAudit } from '../record.ts';
import { capabilitiesOf } from '../servers/hardware.ts';
import { lockServerFor } from '../servers/lock-for.ts';
import { snapshotObject } from './object.ts';

/**
 * Begins a snapshot of a running or stopped server. Refuses with `not_found`, `conflict_state`, `unavailable` (hardware
 * without snapshots), `limit_reached`, and as 400 with a name or an `expires_at` that cannot be.
 */
export async function createSnapshot(
  service: Service,
  actor: CustomerActor,
  shownServerId: string,
  body: SnapshotBody,
  within?: Within,
): Promise<Snapshot> {
  const { name, expiresAt } = readBody(body, service.clock.now());
  const made = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    const server = await lockServerFor(tx, customerId, shownServerId, 'snapshot');
    if (!(await capabilitiesOf(service, tx, server)).snapshots) {
      fail('unavailable', { field: '' }, 'The hardware of this server has no snapshots.');
    }
    await requireRoom(service, tx, server);
    const row = await insertSnapshot(tx, {
      id: newId(now),
      customer_id: customerId,
      server_id: server.id,
      region_id: server.region_id,
      disk_gb: server.disk_gb,
      image_id: server.image_id,
      name,
      expires_at: expiresAt,
      created_at: now,
    });
    const snapshot = snapshotObject(row);
    await enqueueTask(tx, { kind: 'snapshot', subject: row.id, now });
    await recordAudit(tx, { actor, action: 'snapshot.create', resource: snapshot.id }, now);
    await within?.(tx, snapshot);
    return snapshot;
  });
  service.wake();
  return made;
}

/** The server's lock makes its own count exact, that of the balance the customer's. */
async function requireRoom(
  service: Service,
  tx: Sql,
  { id, customer_id: customerId }: ServerRow,
): Promise<void> {
  const { snapshots, snapshotsPerServer } = service.settings.quotas;
  if ((await countSnapshotsOf(tx, customerId, id)) >= snapshotsPerServer) {
    quotaReached('snapshotsPerServer', snapshotsPerServer);
  }
  await lockBalance(tx, customerId);
  if ((await countSnapshots(tx, customerId, snapshots)) >= snapshots) quotaReached('snapshots', snapshots);
}

function readBody(body: SnapshotBody, now: Date): { name: string; expiresAt: Date | null } {
  const { expires_at: expires = null } = body;
  return {
    name:
      body.name === undefined
        ? generatedName(now)
        : (readName(body.name) ?? invalid([{ field: 'name', issue: 'invalid_format' }])),
    expiresAt: expires === null ? null : requireExpiry(expires, now),
  };
}

/** `snapshot-20260131-120000`, in UTC. */
function generatedName(now: Date): string {
  const digits = now.toISOString().replaceAll(/\D/g, '');
  return `snapshot-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}
