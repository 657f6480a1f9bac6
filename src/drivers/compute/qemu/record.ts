/** The driver's record of a machine: its desired state, stored next to its disks. Contains no secrets. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { MachineSpec, Traffic } from '../../../ports/compute.ts';
import type { Filter } from '../../../ports/network.ts';
import { DiskFullError, readRecordFile, writeJson } from './json-file.ts';
import { isId, type Layout } from './layout.ts';
import { releaseReserve } from './reserve.ts';

/** The spec without the fields that only an install needs. */
export type StoredSpec = Omit<MachineSpec, 'sshKeys' | 'rootPasswordHash' | 'userData' | 'generation'>;

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
  /** During an install: since when the network answers while SSH does not. */
  readonly answersSince: string | null;
  /** SHA-256 (hex) of the rescue password's hash while the machine should run the rescue system. */
  readonly rescue: string | null;
  readonly filter: Filter | null;
  readonly traffic: Traffic;
}

export async function readRecord(layout: Layout, id: string): Promise<MachineRecord | undefined> {
  return await readRecordFile<MachineRecord>(
    layout.machine(id, 'machine.json'),
    ({ spec }) => spec?.id === id,
  );
}

export async function writeRecord(layout: Layout, record: MachineRecord): Promise<void> {
  const path = layout.machine(record.spec.id, 'machine.json');
  try {
    await writeJson(path, record);
  } catch (error) {
    if (!(error instanceof DiskFullError) || !(await releaseReserve(layout))) throw error;
    await writeJson(path, record);
  }
}

/**
 * Returns the ids of all machines, sorted. Skips folders without a record, which belong to machines that were
 * never created, and names that are not ids, such as `lost+found`.
 */
export async function listRecords(layout: Layout): Promise<string[]> {
  try {
    const ids = (await readdir(layout.machines())).sort();
    return ids.filter((id) => isId(id) && existsSync(layout.machine(id, 'machine.json')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
