/**
 * Volumes: files, or images that hosts share, that are attached to at most one machine, running or stopped,
 * and that outlive it.
 */
import { rm } from 'node:fs/promises';
import { ComputeError, type VolumeSpec } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type Qmp, withQmp } from '../qmp.ts';
import { readRecord, requireNotMoving, requireNotSent, requireRecord, withMachine } from '../record.ts';
import { releaseClaim } from './claims.ts';
import { findVolumeNode, growNode, pciSlot, plug, unplug } from './hot-plug.ts';
import { reclaimFile } from './lent-files.ts';
import {
  claimSharedVolume,
  ensureSharedVolume,
  growDetached,
  removeSharedVolume,
  seizeSharedVolume,
} from './shared-volumes.ts';
import { resumeSnapshots } from './snapshots.ts';
import {
  ensureVolumeFile,
  listVolumesOf,
  markCreated,
  readVolume,
  type VolumeRecord,
  withVolume,
  writeVolume,
} from './volume-record.ts';

export async function attachVolume(host: QemuHost, machineId: string, volume: VolumeSpec): Promise<void> {
  pciSlot(volume.device);
  await requireRecord(host.layout, machineId);
  const existing = await readVolume(host.layout, volume.id);
  if (existing?.machineId && !isAttachedAs(existing, machineId, volume)) await detachVolume(host, volume.id);
  if (volume.shared) await claimSharedVolume(host, volume);
  await withMachine(host, machineId, async () => {
    const record = await host.withHostLock('volumes', () => claim(host, machineId, volume));
    await withQmp(host, machineId, (qmp) => syncVolume(host, record, qmp));
  });
}

/** Whether it is attached as requested and is not being detached. */
function isAttachedAs(record: VolumeRecord, machineId: string, { device }: VolumeSpec): boolean {
  return record.machineId === machineId && record.device === device && !record.leaving;
}

/** Records that the volume belongs to this machine. From then on no other machine can attach it. */
async function claim(
  host: QemuHost,
  machineId: string,
  { id, sizeGb, device, shared }: VolumeSpec,
): Promise<VolumeRecord> {
  const { layout } = host;
  const existing = await readVolume(layout, id);
  requireNotMoving(existing);
  if (existing?.machineId && !isAttachedAs(existing, machineId, { id, sizeGb, device })) {
    throw new ComputeError('transient', 'the volume is still attached elsewhere');
  }
  const others = (await listVolumesOf(host, machineId)).filter((other) => other.id !== id);
  // A volume that is being detached may not have released the device yet.
  if (others.some((other) => other.device === device)) {
    throw new ComputeError('transient', 'another volume is attached as that device');
  }
  const record: VolumeRecord = {
    ...existing,
    id,
    sizeGb: Math.max(sizeGb, existing?.sizeGb ?? 0),
    machineId,
    device,
    leaving: false,
    ...(shared ? { shared } : {}),
  };
  await writeVolume(layout, record);
  return record;
}

/** Makes the volume match its record: its file or image, and its device in QEMU. */
async function syncVolume(host: QemuHost, record: VolumeRecord, qmp: Qmp | undefined): Promise<void> {
  const node = qmp && (await findVolumeNode(qmp, record.id));
  if (qmp && node) await growNode(host, qmp, record, node);
  else await (record.shared ? ensureSharedVolume(host, record) : ensureVolumeFile(host, record));
  if (qmp) await plug(host, qmp, record);
  // This comes last: on a full disk no record can be written, but the guest already has the volume.
  await markCreated(host, record);
}

export async function detachVolume(host: QemuHost, volumeId: string): Promise<void> {
  // A killed attachment may have left a claim without a record.
  if (await isMaybeShared(host, volumeId)) return await releaseClaim(host, volumeId);
  await withVolume(host, volumeId, async (record) => {
    if (record.machineId === null) return;
    requireNotSent(await readRecord(host.layout, record.machineId));
    // From here on, no start of the machine plugs it in again.
    if (!record.leaving) await writeVolume(host.layout, { ...record, leaving: true });
    await unplug(host, record.machineId, record);
    await markDetached(host, record);
  });
}

/** Whether the volume has no record here but may be in the cluster. */
async function isMaybeShared({ layout, options }: QemuHost, volumeId: string): Promise<boolean> {
  return Boolean(options.ceph) && (await readVolume(layout, volumeId)) === undefined;
}

async function markDetached(host: QemuHost, record: VolumeRecord): Promise<void> {
  const { id, machineId, shared } = record;
  if (shared) {
    await releaseClaim(host, id);
    return await rm(host.layout.volume(id, 'json'), { force: true });
  }
  const path = host.layout.volume(id, 'qcow2');
  if (machineId !== null) await reclaimFile(host.layout, machineId, { kind: 'volumes', path });
  await writeVolume(host.layout, { ...record, machineId: null, device: null, leaving: false });
}

export async function growVolume(host: QemuHost, volumeId: string, sizeGb: number): Promise<void> {
  if (await isMaybeShared(host, volumeId)) return await growDetached(host, { id: volumeId, sizeGb });
  await withVolume(host, volumeId, async (before) => {
    requireNotMoving(before);
    if (before.machineId !== null) requireNotSent(await readRecord(host.layout, before.machineId));
    const record = { ...before, sizeGb: Math.max(sizeGb, before.sizeGb) };
    if (record.sizeGb > before.sizeGb) await writeVolume(host.layout, record);
    if (record.machineId === null) await syncVolume(host, record, undefined);
    else if (!record.leaving) await withQmp(host, record.machineId, (qmp) => syncVolume(host, record, qmp));
  });
}

export async function removeVolume(host: QemuHost, volumeId: string): Promise<void> {
  await detachVolume(host, volumeId);
  if (await isMaybeShared(host, volumeId)) return await removeSharedVolume(host, volumeId);
  await withVolume(host, volumeId, async (record) => {
    requireNotMoving(record);
    if (record.machineId !== null)
      throw new ComputeError('transient', 'the volume was attached again meanwhile');
    const { layout } = host;
    // Delete the record last: a leftover file without one would become the content of the next volume with
    // this id.
    const file = layout.volume(volumeId, 'qcow2');
    for (const path of [file, `${file}.new`, layout.volume(volumeId, 'json')])
      await rm(path, { force: true });
  });
}

/**
 * Plugs the machine's volumes into a QEMU that was just started and whose guest does not run yet. A volume
 * that fails does not prevent the start: it is plugged in when it is attached again.
 */
export async function plugVolumes(host: QemuHost, machineId: string, qmp: Qmp): Promise<void> {
  for (const record of await listVolumesOf(host, machineId)) {
    if (record.leaving) continue;
    try {
      await syncVolume(host, record, qmp);
    } catch (err) {
      host.log.error(
        { err, machine: machineId, volume: record.id },
        'starting the machine without this volume',
      );
    }
  }
  await resumeSnapshots(host, machineId, qmp);
}

/** Takes a shared volume from a host that is lost. That host cannot write to the cluster any more. */
export async function seizeVolume(host: QemuHost, volumeId: string): Promise<void> {
  if (await isMaybeShared(host, volumeId)) await seizeSharedVolume(host, volumeId);
}

/** Detaches every volume of the machine. The caller holds the machine's lock and has powered it off. */
export async function releaseVolumes(host: QemuHost, machineId: string): Promise<void> {
  for (const record of await listVolumesOf(host, machineId)) await markDetached(host, record);
}
