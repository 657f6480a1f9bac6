import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ComputeError, type MachineSpec, type Traffic } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { DiskFullError } from '../json-file.ts';
import { removeLimits } from '../metrics/cgroup.ts';
import { unplugNetwork } from '../net/plug.ts';
import { listRecords, type MachineRecord, readRecord, type StoredSpec, writeRecord } from '../record.ts';
import { stopCopies } from '../storage/background-copy.ts';
import { releaseVolumes } from '../storage/volumes.ts';
import { createDisk, createMachineFolder, requireInstallable, storeIso } from './disks.ts';
import { endProcess } from './process.ts';
import { writeSeeds } from './seed.ts';
import { reconcile, switchOff } from './start.ts';

/** Of a machine that was never told: as fast as the host can, and no way to mail servers. */
const DEFAULT_TRAFFIC: Traffic = { bitsPerS: null, mail: false };

export async function ensureMachine(host: QemuHost, spec: MachineSpec): Promise<void> {
  await host.withMachineLock(spec.id, async () => {
    const existing = await readRecord(host.layout, spec.id);
    if (existing && existing.spec.host !== spec.host) throw machineOnOtherHost();
    requireHost(host, spec);
    // What the first call began is finished; a guest that runs, or switched itself off, is left alone.
    if (existing) await reconcile(host, existing);
    else await createMachine(host, spec);
  });
}

/** With the record the machine exists: whatever happens from then on, it is brought up by whoever comes next. */
async function createMachine(host: QemuHost, spec: MachineSpec): Promise<void> {
  const storedSpec = toStoredSpec(spec);
  await requireInstallable(host, storedSpec);
  await requireFreeAddresses(host, storedSpec);
  await createMachineFolder(host, spec.id);
  await storeIso(host, spec);
  await createDisk(host, spec);
  await writeSeeds(host, spec, 'image');
  const record: MachineRecord = {
    ...newInstallRecord(spec),
    filter: null,
    traffic: DEFAULT_TRAFFIC,
  };
  await writeRecord(host.layout, record);
  await reconcile(host, record);
}

/**
 * A service whose database was put back does not know what was sold since, and gives its addresses out again. With both
 * machines here, whichever is plugged last has the packets of the other.
 */
async function requireFreeAddresses(host: QemuHost, { id, ipv4, ipv6 }: StoredSpec): Promise<void> {
  for (const other of await listRecords(host.layout)) {
    if (other === id) continue;
    // A damaged record concerns no other machine.
    const record = await readRecord(host.layout, other).catch(() => undefined);
    const hasConflict =
      record?.spec.ipv4.address === ipv4.address || record?.spec.ipv6.prefix === ipv6.prefix;
    if (!hasConflict) continue;
    host.log.error({ machine: other, wanted: id }, 'a machine of this host has the addresses of another');
    throw new ComputeError('host', 'another machine of this host has its address or its /64');
  }
}

export function requireHost(host: QemuHost, spec: MachineSpec): void {
  if (!host.options.hosts.includes(spec.host)) throw new ComputeError('host', `no host ${spec.host}`);
}

/** One id on two hosts would be two machines with the same addresses. */
export function machineOnOtherHost(): ComputeError {
  return new ComputeError('refused', 'the machine exists on another host');
}

export function machineNotFound(): ComputeError {
  return new ComputeError('refused', 'no such machine');
}

/** A record in which the spec's install begins. A customer's own ISO is booted, not installed. */
export function newInstallRecord(spec: MachineSpec): Omit<MachineRecord, 'filter' | 'traffic'> {
  return {
    spec: toStoredSpec(spec),
    generation: spec.generation,
    power: 'on',
    installingSince: spec.image.iso === null ? new Date().toISOString() : null,
    answersSince: null,
    rescue: null,
  };
}

/** Names each field, so that a secret the port gains later is not kept by accident. */
export function toStoredSpec(spec: MachineSpec): StoredSpec {
  const { id, host, hostname, cpu, ramMb, diskGb, image, ipv4, ipv6 } = spec;
  return { id, host, hostname, cpu, ramMb, diskGb, image, ipv4, ipv6 };
}

/**
 * The record goes last: until then a second call finds what is left to do. The disks go as soon as nobody writes to them: on
 * a full disk nothing is written before that has made room.
 */
export async function removeMachine(host: QemuHost, id: string): Promise<void> {
  await host.withMachineLock(id, async () => {
    // Whatever is wrong with it, and without one: what runs is ended.
    const record = await readRecord(host.layout, id).catch(() => undefined);
    await (record ? switchOffForRemoval(host, record) : endProcess(host, id));
    await stopCopies(host, host.layout.machine(id));
    await removeFiles(host, id);
    await releaseVolumes(host, id);
    await unplugNetwork(host, id);
    await removeLimits(host, id);
    // Whoever meters it may write a last file meanwhile.
    await rm(host.layout.machine(id), { recursive: true, force: true, maxRetries: 5 });
  });
}

/** Nobody starts it again from here on. Where that cannot be written, because it has no disk any more. */
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
