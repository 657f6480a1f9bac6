/** The driver's record of a machine: its desired state, stored next to its disks. Contains no secrets. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { undefinedIfMissing } from '../../../kernel/files.ts';
import { ComputeError, type MachineSpec, type Traffic } from '../../../ports/compute.ts';
import type { Filter } from '../../../ports/network.ts';
import { DiskFullError, readRecordFile, writeJson } from './files.ts';
import type { QemuHost } from './host.ts';
import { isId, type Layout } from './layout.ts';
import { releaseReserve } from './space.ts';

/** The spec without the fields that only an install needs. */
export type StoredSpec = Omit<
  MachineSpec,
  'sshKeys' | 'rootPasswordHash' | 'userData' | 'generation' | 'createdOff' | 'snapshotId'
>;

export interface MachineRecord {
  readonly spec: StoredSpec;
  /** Generation of the current disk. */
  readonly generation: number;
  /** Desired power state. Becomes `off` when the guest shuts itself down. */
  readonly power: 'on' | 'off';
  /** Start of the current install by the host's clock; null when it is done. */
  readonly installingSince: string | null;
  /** Set if the disk was created from a snapshot. */
  readonly restored?: true;
  /** Set if the machine was created from a snapshot. Its install is that of a new system. */
  readonly cloned?: true;
  /** During an install: since when the network answers while SSH does not. */
  readonly answersSince: string | null;
  /** SHA-256 (hex) of the rescue password's hash while the machine should run the rescue system. */
  readonly rescue: string | null;
  /** The customer's ISO image in the drive, and whether it boots before the disk. Absent: it is empty. */
  readonly drive?: { readonly sha256: string; readonly boots: boolean };
  readonly filter: Filter | null;
  readonly traffic: Traffic;
  /** Set while the machine is moved to another host. */
  readonly moving?: Moving;
}

/**
 * `sent`: the other host has a complete copy and may run it at any time, so nothing may run here. `copying`:
 * its disks, then also its `memory`. `starting` and `ending`: its copies are being set up, or removed.
 */
export interface Moving {
  readonly moveId: string;
  readonly phase: 'starting' | 'copying' | 'memory' | 'sent' | 'ending';
}

/** Refuses to change a volume or snapshot from the start of its move. */
export function requireNotMoving(record: { readonly moving?: Moving } | undefined): void {
  if (record?.moving) throw new ComputeError('transient', 'it is being moved to another host');
}

/** Whether nothing may run or change the machine here: another host may have it. */
export function isSent({ moving }: MachineRecord): boolean {
  return moving?.phase === 'sent';
}

/** Refuses to change a machine that another host may already run. */
export function requireNotSent(record: MachineRecord | undefined): void {
  if (record && isSent(record))
    throw new ComputeError('transient', 'the machine is being moved to another host');
}

export async function readRecord(layout: Layout, id: string): Promise<MachineRecord | undefined> {
  return await readRecordFile<MachineRecord>(
    layout.machine(id, 'machine.json'),
    ({ spec }) => spec?.id === id,
  );
}

/** Like `readRecord`, and refuses a machine that does not exist. */
export async function requireRecord(layout: Layout, id: string): Promise<MachineRecord> {
  const record = await readRecord(layout, id);
  if (!record) throw new ComputeError('refused', 'machine not found');
  return record;
}

/** Runs the work under the machine's lock, with its record. Refuses a machine that another host may run. */
export async function withMachine<T>(
  host: QemuHost,
  id: string,
  work: (record: MachineRecord) => Promise<T>,
): Promise<T> {
  return await host.withMachineLock(id, async () => {
    const record = await requireRecord(host.layout, id);
    requireNotSent(record);
    return await work(record);
  });
}

export async function writeRecord(layout: Layout, record: MachineRecord): Promise<void> {
  await writeEvenIfFull(layout, layout.machine(record.spec.id, 'machine.json'), record);
}

/** Writes a small file of a machine. On a full disk, the reserve makes room for it. */
export async function writeEvenIfFull(layout: Layout, path: string, value: unknown): Promise<void> {
  try {
    await writeJson(path, value);
  } catch (error) {
    if (!(error instanceof DiskFullError) || !(await releaseReserve(layout))) throw error;
    await writeJson(path, value);
  }
}

/** Returns the ids of all folders of machines, also those of machines that are moved to this host. */
export async function listFolders(layout: Layout): Promise<string[]> {
  const ids = (await readdir(layout.machines()).catch(undefinedIfMissing)) ?? [];
  return ids.sort().filter(isId);
}

/**
 * Returns the ids of all machines, sorted. Skips folders without a record, which belong to machines that were
 * never created, and names that are not ids, such as `lost+found`.
 */
export async function listRecords(layout: Layout): Promise<string[]> {
  const ids = await listFolders(layout);
  return ids.filter((id) => existsSync(layout.machine(id, 'machine.json')));
}
