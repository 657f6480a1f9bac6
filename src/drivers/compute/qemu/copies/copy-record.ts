/**
 * Files on their way between this host and the store of files. A record exists from the moment that space is
 * reserved until the file is deleted, or has become the snapshot. Changing it requires the snapshot's lock.
 */
import { readdir, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { undefinedIfMissing } from '../../../../kernel/files.ts';
import type { PreparedCopy } from '../../../../ports/copies.ts';
import { readRecordFile, writeJson } from '../files.ts';
import type { QemuHost } from '../host.ts';
import { isId, type Layout } from '../layout.ts';
import { allocatedBytes } from '../space.ts';
import { stopCopy } from '../storage/background-copy.ts';
import { readSnapshot } from '../storage/snapshot-record.ts';

export interface CopyRecord {
  readonly id: string;
  /** The file may become so large. */
  readonly maxBytes: number;
  /** Set once the file is complete, and was read. */
  readonly prepared: PreparedCopy | null;
}

export async function readCopy(layout: Layout, id: string): Promise<CopyRecord | undefined> {
  return await readRecordFile<CopyRecord>(layout.copy(id, 'json'), (record) => record.id === id);
}

export async function writeCopy(layout: Layout, record: CopyRecord): Promise<void> {
  await writeJson(layout.copy(record.id, 'json'), record);
}

/** Runs the work under the lock of the snapshot, which is that of the machine that it was taken of. */
export async function withSnapshotLock<T>(host: QemuHost, id: string, work: () => Promise<T>): Promise<T> {
  const machineId = (await readSnapshot(host.layout, id))?.machineId ?? id;
  return await host.withMachineLock(machineId, work);
}

/** Deletes everything of the copy. The caller holds the lock, or nothing else can use it. */
export async function deleteCopy({ layout }: QemuHost, id: string): Promise<void> {
  const to = layout.copy(id, 'qcow2');
  await stopCopy(to);
  for (const path of [to, layout.copy(id, 'part')]) await rm(path, { force: true });
  // The record last: until then, its space counts.
  await rm(layout.copy(id, 'json'), { force: true });
}

/** Returns the bytes that unfinished copies, except one, may yet write. */
export async function outstandingOfStoreCopies({ layout }: QemuHost, exceptId?: string): Promise<number[]> {
  const names = (await readdir(layout.copies()).catch(undefinedIfMissing)) ?? [];
  const ids = names.filter((name) => name.endsWith('.json')).map((name) => basename(name, '.json'));
  return await Promise.all(
    ids
      .filter((id) => isId(id) && id !== exceptId)
      .map(async (id) => {
        const record = await readCopy(layout, id).catch(() => undefined);
        if (record === undefined || record.prepared !== null) return 0;
        const paths = [layout.copy(id, 'part'), `${layout.copy(id, 'qcow2')}.part`, layout.copy(id, 'qcow2')];
        const sizes = await Promise.all(paths.map(async (path) => (await allocatedBytes(path)) ?? 0));
        return Math.max(0, record.maxBytes - Math.max(...sizes));
      }),
  );
}
