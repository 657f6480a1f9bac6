/**
 * Creates a new disk next to the current one, switches the record to it, and deletes the old disk after the
 * install.
 */
import { rename } from 'node:fs/promises';
import { ComputeError, type MachineSpec } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { stopCopies } from '../storage/background-copy.ts';
import { copySnapshot } from '../storage/snapshots.ts';
import { resetCrashes } from './crashes.ts';
import { createDisk, requireHostSpace, requireInstallable, storeIso } from './disks.ts';
import { machineNotFound, machineOnOtherHost, newInstallRecord, toStoredSpec } from './ensure.ts';
import { dropSecrets, writeSeeds } from './seed.ts';
import { reconcile, start } from './start.ts';

export async function rebuildMachine(host: QemuHost, spec: MachineSpec): Promise<void> {
  await reinstall(host, spec, null, async () => {
    await requireInstallable(host, toStoredSpec(spec));
    await storeIso(host, spec);
    await createDisk(host, spec);
    await writeSeeds(host, spec, 'image');
  });
}

export async function restoreMachine(host: QemuHost, spec: MachineSpec, snapshotId: string): Promise<void> {
  const copy = host.layout.diskCopy(spec.id, spec.generation, snapshotId);
  await reinstall(host, spec, copy, async () => {
    await requireHostSpace(host);
    // Returns only when the copy is complete, possibly after earlier calls that had to retry.
    await copySnapshot(host, snapshotId, { machineId: spec.id, path: copy, diskGb: spec.diskGb });
    await rename(copy, host.layout.disk(spec.id, spec.generation));
    await writeSeeds(host, spec, 'snapshot');
    await dropSecrets(host, spec.id, spec.generation);
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
  await host.withMachineLock(spec.id, async () => {
    const record = await readRecord(host.layout, spec.id);
    if (!record) throw machineNotFound();
    if (record.spec.host !== spec.host) throw machineOnOtherHost();
    if (record.generation > spec.generation) {
      throw new ComputeError('refused', 'the machine already has a later disk');
    }
    if (record.generation === spec.generation) {
      // Finish what a killed call started.
      await reconcile(host, record);
      return;
    }
    await stopCopies(host, host.layout.machine(spec.id), copy);
    await prepare();
    const { filter, traffic } = record;
    const install: MachineRecord = { ...newInstallRecord(spec), filter, traffic };
    const next: MachineRecord = copy === null ? install : { ...install, restored: true };
    await writeRecord(host.layout, next);
    await resetCrashes(host, spec.id);
    await start(host, next);
  });
}
