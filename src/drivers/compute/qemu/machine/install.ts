/**
 * Installs: the first creates the machine, and each later one a new disk next to the current one. It switches
 * the record to the new disk and deletes the old one when the install is done. Also removes machines.
 */

import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ComputeError, type MachineSpec, type Traffic } from '../../../../ports/compute.ts';
import { DiskFullError } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { readIncoming } from '../move/incoming.ts';
import { removeBlackhole } from '../net/blackhole.ts';
import { unplugNetwork } from '../net/network.ts';
import {
  listRecords,
  type MachineRecord,
  readRecord,
  requireNotSent,
  type StoredSpec,
  withMachine,
  writeRecord,
} from '../record.ts';
import { requireDiskSpace } from '../space.ts';
import { stopCopies } from '../storage/background-copy.ts';
import { claimVolume, takeClaim } from '../storage/claims.ts';
import { diskClaim, removeSharedDisks, reviveSharedDisk } from '../storage/shared-disks.ts';
import { copySharedSnapshot } from '../storage/shared-snapshots.ts';
import { copySnapshot } from '../storage/snapshots.ts';
import { releaseVolumes } from '../storage/volumes.ts';
import { removeLimits } from './cgroup.ts';
import { createInstallDisk, createMachineFolder, requireInstallable, storeIso } from './disks.ts';
import { endProcess } from './process.ts';
import { dropSecrets, writeSeeds } from './seed.ts';
import { boot, reconcile, switchOff } from './start.ts';

/** Traffic settings before the first call sets them: full speed, no outbound SMTP. */
const DEFAULT_TRAFFIC: Traffic = { bitsPerS: null, mail: false };

export async function ensureMachine(host: QemuHost, spec: MachineSpec): Promise<void> {
  await withNewMachine(host, spec, async () => {
    const { snapshotId, createdOff } = spec;
    await (snapshotId === undefined ? requireInstallable(host, spec) : requireDiskSpace(host.layout));
    await requireFreeAddresses(host, spec);
    if (snapshotId === undefined) await writeInstallFiles(host, spec, { isFirst: true });
    else await writeClonedFiles(host, spec, snapshotId);
    const power = createdOff ? 'off' : 'on';
    const cloned = snapshotId === undefined ? {} : ({ cloned: true } as const);
    return {
      ...newInstallRecord(spec),
      ...cloned,
      power,
      filter: spec.filter ?? null,
      traffic: DEFAULT_TRAFFIC,
    };
  });
}

/**
 * Creates the machine unless it exists here. It exists once its record does: from then on, any later call
 * brings it up.
 */
async function withNewMachine(
  host: QemuHost,
  spec: MachineSpec,
  prepare: () => Promise<MachineRecord>,
): Promise<void> {
  await host.withMachineLock(spec.id, async () => {
    const existing = await readRecord(host.layout, spec.id);
    if (existing && existing.spec.host !== spec.host) throw machineOnOtherHost();
    requireHost(host, spec);
    requireNotSent(existing);
    if (!existing && (await readIncoming(host.layout, spec.id)))
      throw new ComputeError('transient', 'the machine is being moved to this host');
    // Finish what the first call started. A guest that runs, or that shut itself down, is left alone.
    const record = existing ?? (await prepare());
    if (!existing) await writeRecord(host.layout, record);
    await reconcile(host, record);
  });
}

async function writeInstallFiles(
  host: QemuHost,
  spec: MachineSpec,
  disk: { readonly isFirst: boolean },
): Promise<void> {
  await createMachineFolder(host, spec.id);
  await storeIso(host, spec);
  await createInstallDisk(host, spec, disk);
  await writeSeeds(host, spec, 'image');
}

/** Gives a new machine the disk of a snapshot. Its system takes the seed of a new one. */
async function writeClonedFiles(host: QemuHost, spec: MachineSpec, snapshotId: string): Promise<void> {
  await createMachineFolder(host, spec.id);
  if (spec.sharedDisk) await claimVolume(host, diskClaim(spec.id));
  await copyDiskOfSnapshot(host, spec, snapshotId);
  await writeSeeds(host, spec, 'image');
}

/** Returns only when the copy is complete, possibly after earlier calls that had to retry. */
async function copyDiskOfSnapshot(host: QemuHost, spec: MachineSpec, snapshotId: string): Promise<void> {
  const { id, generation, diskGb } = spec;
  const copy = host.layout.diskCopy(id, generation, snapshotId);
  if (spec.sharedDisk) return await copySharedSnapshot(host, snapshotId, { spec, marker: copy });
  await copySnapshot(host, snapshotId, { machineId: id, path: copy, diskGb });
  await rename(copy, host.layout.disk(id, generation));
}

/**
 * Rejects addresses that another machine on this host already has. After a database restore, the service may
 * issue addresses again that were sold since; the machine plugged last would receive the packets of the
 * other.
 */
export async function requireFreeAddresses(host: QemuHost, { id, ipv4, ipv6 }: StoredSpec): Promise<void> {
  for (const other of await listRecords(host.layout)) {
    if (other === id) continue;
    // A damaged record of another machine must not block this one.
    const record = await readRecord(host.layout, other).catch(() => undefined);
    const hasConflict =
      record?.spec.ipv4.address === ipv4.address || record?.spec.ipv6.prefix === ipv6.prefix;
    if (!hasConflict) continue;
    host.log.error(
      { machine: other, wanted: id },
      'another machine on this host already has these addresses',
    );
    throw new ComputeError('host', 'another machine on this host has its IPv4 address or its /64');
  }
}

export function requireHost(host: QemuHost, spec: Pick<MachineSpec, 'host'>): void {
  if (!host.options.hosts.includes(spec.host)) throw new ComputeError('host', `unknown host ${spec.host}`);
}

/** The same id on two hosts would be two machines with the same addresses. */
function machineOnOtherHost(): ComputeError {
  return new ComputeError('refused', 'the machine exists on another host');
}

/** Returns a record with a new install in progress. A customer's ISO is only booted, not installed. */
function newInstallRecord(spec: MachineSpec): Omit<MachineRecord, 'filter' | 'traffic'> {
  return {
    spec: toStoredSpec(spec),
    generation: spec.generation,
    power: 'on',
    installingSince: spec.image.iso === null ? new Date().toISOString() : null,
    answersSince: null,
    rescue: null,
  };
}

/** Copies field by field, so that a secret added to the port later is not stored by accident. */
export function toStoredSpec(spec: MachineSpec): StoredSpec {
  const { id, host, hostname, cpu, ramMb, diskGb, sharedDisk, image, ipv4, ipv6 } = spec;
  const stored = { id, host, hostname, cpu, ramMb, diskGb, image, ipv4, ipv6 };
  return sharedDisk ? { ...stored, sharedDisk } : stored;
}

export async function rebuildMachine(host: QemuHost, spec: MachineSpec): Promise<void> {
  await reinstall(host, spec, null, async () => {
    await requireInstallable(host, spec);
    await writeInstallFiles(host, spec, { isFirst: false });
  });
}

export async function restoreMachine(host: QemuHost, spec: MachineSpec, snapshotId: string): Promise<void> {
  const copy = host.layout.diskCopy(spec.id, spec.generation, snapshotId);
  await reinstall(host, spec, copy, async () => {
    await requireDiskSpace(host.layout);
    await copyDiskOfSnapshot(host, spec, snapshotId);
    await writeKeptSeeds(host, spec);
  });
}

/** Writes the seeds of a disk whose system was installed before. */
async function writeKeptSeeds(host: QemuHost, spec: MachineSpec): Promise<void> {
  await writeSeeds(host, spec, 'snapshot');
  await dropSecrets(host, spec.id, spec.generation);
}

/** Creates the machine with the shared disk that it had on a lost host. */
export async function reviveMachine(host: QemuHost, spec: MachineSpec): Promise<void> {
  await withNewMachine(host, spec, async () => {
    await requireDiskSpace(host.layout);
    await requireFreeAddresses(host, spec);
    await reviveSharedDisk(host, spec);
    await createMachineFolder(host, spec.id);
    await writeKeptSeeds(host, spec);
    return {
      ...newInstallRecord(spec),
      restored: true,
      filter: spec.filter ?? null,
      traffic: DEFAULT_TRAFFIC,
    };
  });
}

/**
 * `prepare` creates the files of the next generation, or rejects the request; the machine is unchanged until
 * then. Of the unfinished copies, only `copy` continues.
 */
async function reinstall(
  host: QemuHost,
  spec: MachineSpec,
  copy: string | null,
  prepare: () => Promise<void>,
): Promise<void> {
  await withMachine(host, spec.id, async (record) => {
    if (record.spec.host !== spec.host) throw machineOnOtherHost();
    if (record.generation > spec.generation) {
      throw new ComputeError('refused', 'the machine already has a later disk');
    }
    // Finish what a killed call started.
    if (record.generation === spec.generation) return void (await reconcile(host, record));
    await stopCopies(host.layout.machine(spec.id), copy);
    await prepare();
    const { filter, traffic, drive } = record;
    const install: MachineRecord = {
      ...newInstallRecord(spec),
      filter,
      traffic,
      // The new disk boots, or its install would never end.
      ...(drive ? { drive: { ...drive, boots: false } } : {}),
    };
    await boot(host, copy === null ? install : { ...install, restored: true });
  });
}

/**
 * Deletes the record last: until then, a repeated call finds the remaining work. Deletes the disks as soon as
 * nothing writes to them: on a full disk, no file can be written before that frees space.
 */
export async function removeMachine(host: QemuHost, id: string): Promise<void> {
  await host.withMachineLock(id, () => removeStoredMachine(host, id));
}

/** The caller holds the machine's lock. With `keepsSharedDisk`, another host has the disk. */
export async function removeStoredMachine(
  host: QemuHost,
  id: string,
  { keepsSharedDisk = false }: { readonly keepsSharedDisk?: boolean } = {},
): Promise<void> {
  // End the process even if the record is damaged or missing.
  const record = await readRecord(host.layout, id).catch(() => undefined);
  await (record ? switchOffForRemoval(host, record) : endProcess(host, id));
  await stopCopies(host.layout.machine(id));
  // A killed install may have left a shared disk without a record.
  const isMaybeShared = record === undefined ? host.options.ceph : record.spec.sharedDisk;
  if (isMaybeShared && !keepsSharedDisk) {
    await finishTakingClaim(host, id);
    await removeSharedDisks(host, id);
  }
  await removeFiles(host, id);
  await releaseVolumes(host, id);
  if (record) await removeBlackhole(host, record);
  await unplugNetwork(host, id);
  await removeLimits(host, id);
  // The metrics sampler may write one more file meanwhile.
  await rm(host.layout.machine(id), { recursive: true, force: true, maxRetries: 5 });
}

/** A move to this host may have been killed before the claim on the disk became its own. */
async function finishTakingClaim(host: QemuHost, id: string): Promise<void> {
  const incoming = await readIncoming(host.layout, id);
  const claim = incoming?.claims?.[diskClaim(id)];
  if (claim && (await readRecord(host.layout, id))) await takeClaim(host, diskClaim(id), claim);
}

/** Prevents a restart. If the disk is too full to record that, the missing disk prevents it. */
async function switchOffForRemoval(host: QemuHost, record: MachineRecord): Promise<void> {
  try {
    await switchOff(host, record);
  } catch (error) {
    if (!(error instanceof DiskFullError)) throw error;
  }
}

async function removeFiles(host: QemuHost, id: string): Promise<void> {
  const folder = host.layout.machine(id);
  for (const file of await readdir(folder).catch(() => [])) {
    if (file !== 'machine.json') await rm(join(folder, file), { recursive: true, force: true });
  }
}
