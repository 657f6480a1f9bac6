/** What the driver keeps of a machine: the intent, beside its disks. It holds no secret. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { MachineSpec, Traffic } from '../../../ports/compute.ts';
import type { Filter } from '../../../ports/network.ts';
import { DiskFullError, readRecordFile, writeJson } from './json-file.ts';
import { isId, type Layout } from './layout.ts';
import { releaseReserve } from './reserve.ts';

/** The spec without what an install alone needs to know. */
export type StoredSpec = Omit<MachineSpec, 'sshKeys' | 'rootPasswordHash' | 'userData' | 'generation'>;

export interface MachineRecord {
  readonly spec: StoredSpec;
  /** The disk that it runs on. */
  readonly generation: number;
  /** Whether it should be on. A guest that switched itself off has made it `off`. */
  readonly power: 'on' | 'off';
  /** While the install on its disk is not done: since when, by the host's clock. */
  readonly installingSince: string | null;
  /** The disk was made from a snapshot. */
  readonly restored?: true;
  /** While it installs: since when its network has answered, though no SSH does. */
  readonly answersSince: string | null;
  /** SHA-256 (hex) of the hash of the rescue system's password, while it is to run that. */
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
 * Ids of all machines that are kept, in order. A folder without a record is of one that was never begun; what has a name
 * that is no id (`lost+found`) is nobody's.
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
