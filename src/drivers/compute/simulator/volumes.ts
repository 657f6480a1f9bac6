/** Volumes: created when first attached, attached to at most one machine, and independent of its life. */
import type { Sql } from '../../../kernel/sql.ts';
import { ComputeError, type VolumeSpec } from '../../../ports/compute.ts';
import { requireNotSending } from './disk-moves.ts';
import { hostUnreachable, lockMachine } from './machine.ts';

export async function attachVolume(tx: Sql, machineId: string, volume: VolumeSpec): Promise<void> {
  const { host } = await lockMachine(tx, machineId);
  await requireHostReachable(tx, volume.id);
  await requireNotSending(tx, volume.id);
  const occupied = await tx.row(
    'select 1 from sim.attachments where machine_id = $1 and device = $2 and volume_id <> $3',
    [machineId, volume.device, volume.id],
  );
  // A volume that is being detached may not have released the device yet.
  if (occupied) throw new ComputeError('transient', 'another volume is attached as that device');
  await tx.run(
    `insert into sim.volumes as v (id, size_gb, host) values ($1, $2, $3)
     on conflict (id) do update
        set size_gb = greatest(v.size_gb, excluded.size_gb), host = excluded.host`,
    [volume.id, volume.sizeGb, host],
  );
  await tx.run(
    `insert into sim.attachments (volume_id, machine_id, device) values ($1, $2, $3)
     on conflict (volume_id) do update set machine_id = excluded.machine_id, device = excluded.device`,
    [volume.id, machineId, volume.device],
  );
}

export async function detachVolume(tx: Sql, volumeId: string): Promise<void> {
  await requireHostReachable(tx, volumeId);
  await tx.run('delete from sim.attachments where volume_id = $1', [volumeId]);
}

/** Never shrinks the volume. */
export async function growVolume(tx: Sql, volumeId: string, sizeGb: number): Promise<void> {
  await requireHostReachable(tx, volumeId);
  await requireNotSending(tx, volumeId);
  await tx.run('update sim.volumes set size_gb = $2 where id = $1 and size_gb < $2', [volumeId, sizeGb]);
}

export async function removeVolume(tx: Sql, volumeId: string): Promise<void> {
  await requireHostReachable(tx, volumeId);
  await requireNotSending(tx, volumeId);
  await tx.run('delete from sim.volumes where id = $1', [volumeId]);
}

/** Throws if the volume is attached to a machine whose host is down. */
async function requireHostReachable(tx: Sql, volumeId: string): Promise<void> {
  const attachment = await tx.row<{ host: string; down: boolean }>(
    `select m.host, h.down
     from sim.attachments a join sim.machines m on m.id = a.machine_id join sim.hosts h on h.name = m.host
     where a.volume_id = $1`,
    [volumeId],
  );
  if (attachment?.down) throw hostUnreachable(attachment.host);
}
