/** Ends a move on the source: either the machine stays, or another host has it and its files here go. */
import { rm } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { Move } from '../../../../ports/moves.ts';
import type { QemuHost } from '../host.ts';
import { removeStoredMachine } from '../machine/install.ts';
import { endProcess } from '../machine/process.ts';
import { reconcile } from '../machine/start.ts';
import { plugNetwork, unplugNetwork } from '../net/network.ts';
import { withQmp } from '../qmp.ts';
import { isSent, type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { releaseClaim } from '../storage/claims.ts';
import { reclaimFile } from '../storage/lent-files.ts';
import { diskClaim } from '../storage/shared-disks.ts';
import { listVolumesOf } from '../storage/volume-record.ts';
import { endCopies } from './block-copy.ts';
import { removeChannel } from './channel.ts';
import { endMemoryCopy } from './memory-copy.ts';

/** The machine continues as before the move. The caller holds its lock. Returns its record. */
export async function abandonMove(host: QemuHost, record: MachineRecord): Promise<MachineRecord> {
  const { moving, ...kept } = record;
  if (!moving) return record;
  const { id } = record.spec;
  // From here on, the machine is never reported as sent.
  await writeRecord(host.layout, { ...record, moving: { ...moving, phase: 'ending' } });
  await removeChannel(host, id, moving.moveId);
  if (record.power === 'off') {
    await endProcess(host, id);
    await unplugNetwork(host, id);
  } else {
    await withQmp(host, id, async (qmp) => {
      if (!qmp) return;
      await endMemoryCopy(qmp);
      await endCopies(qmp);
    });
    await plugNetwork(host, kept);
    await reconcile(host, kept);
  }
  await writeRecord(host.layout, kept);
  return kept;
}

export async function keepMachine(host: QemuHost, move: Move): Promise<void> {
  await host.withMachineLock(move.machineId, async () => {
    const record = await readRecord(host.layout, move.machineId);
    if (record?.moving?.moveId === move.id) await abandonMove(host, record);
  });
}

/** Deletes a machine that another host has, with its volumes. */
export async function forgetSent(host: QemuHost, move: Move): Promise<void> {
  const { machineId } = move;
  await host.withMachineLock(machineId, async () => {
    const record = await readRecord(host.layout, machineId);
    if (!record) return;
    if (!isSent(record) || record.moving?.moveId !== move.id)
      throw new ComputeError('refused', 'the machine on this host is not a copy that was moved away');
    await removeChannel(host, machineId, move.id);
    await endProcess(host, machineId);
    if (record.spec.sharedDisk) await releaseClaim(host, diskClaim(machineId));
    for (const { id, shared } of await listVolumesOf(host, machineId)) {
      const path = host.layout.volume(id, 'qcow2');
      // It is ours if the target was lost before it took over. To seize it would then fence this host.
      if (shared) await releaseClaim(host, id);
      else await reclaimFile(host.layout, machineId, { kind: 'volumes', path });
      // The record last: a file without one would become the content of the next volume with this id.
      for (const file of [path, host.layout.volume(id, 'json')]) await rm(file, { force: true });
    }
    await removeStoredMachine(host, machineId, { keepsSharedDisk: true });
  });
}
