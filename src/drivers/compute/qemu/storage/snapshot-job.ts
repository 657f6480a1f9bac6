/**
 * A snapshot as a backup job of the running QEMU. From its start on, QEMU saves the old content of a block
 * before the guest overwrites it, so the snapshot is crash-consistent at one moment. It copies only the data
 * on top of the base image, into an overlay of the same image.
 */
import { rm } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { volumeSerial } from '../host.ts';
import { readBackingImage } from '../machine/isolation.ts';
import { createQcow2, readDiskInfo } from '../qcow2.ts';
import { type Qmp, QmpRefusedError } from '../qmp.ts';
import { closeNode, listBlockNodes, openNode } from './block-nodes.ts';
import { lendFile } from './lent-files.ts';
import type { SnapshotRecord } from './snapshot-record.ts';

interface Job {
  readonly id: string;
  readonly status: string;
  /** Set if the job failed. */
  readonly error?: string;
}

/** Name of the job and of its target node. */
const jobName = (snapshotId: string) => `snap-${volumeSerial(snapshotId)}`;

/** Returns the node of the snapshot's source disk, or undefined if this QEMU does not have it open. */
async function findSourceNode(host: QemuHost, qmp: Qmp, record: SnapshotRecord): Promise<string | undefined> {
  const path = host.layout.disk(record.machineId, record.generation);
  const nodes = await listBlockNodes(qmp);
  return nodes.find(({ drv, file }) => drv === 'qcow2' && file === path)?.['node-name'];
}

/** Starts the job without leftovers of an earlier attempt. Returns false if this QEMU lacks the disk. */
export async function startJob(host: QemuHost, qmp: Qmp, record: SnapshotRecord): Promise<boolean> {
  const device = await findSourceNode(host, qmp, record);
  if (device === undefined) return false;
  const { id, machineId, generation } = record;
  await endJob(qmp, id);
  const path = host.layout.snapshot(id, 'qcow2');
  await rm(path, { force: true });
  const disk = host.layout.disk(machineId, generation);
  const { sizeBytes } = await readDiskInfo(host, disk);
  await createQcow2(path, { backing: await readBackingImage(host, disk), sizeBytes });
  await lendFile(host, machineId, { kind: 'snapshots', path });
  const name = jobName(id);
  await openNode(qmp, { name, path });
  // Keep the finished job, so that a later query learns its result.
  const job = { 'job-id': name, device, target: name, sync: 'top', 'auto-dismiss': false };
  await qmp.execute('blockdev-backup', job);
  return true;
}

/** Returns the state of the job; `lost`: this QEMU does not know it. */
export async function readJobState(
  qmp: Qmp,
  snapshotId: string,
): Promise<'running' | 'done' | 'failed' | 'lost'> {
  const job = await findJob(qmp, jobName(snapshotId));
  if (!job) return 'lost';
  if (job.status !== 'concluded') return 'running';
  return job.error === undefined ? 'done' : 'failed';
}

const CANCEL_CHECKS = 50;
const CANCEL_CHECK_MS = 100;

/** Removes the job and closes its file. Cancels a job that is still running. */
export async function endJob(qmp: Qmp, snapshotId: string): Promise<void> {
  const id = jobName(snapshotId);
  for (let checks = 0; checks < CANCEL_CHECKS; checks++) {
    const job = await findJob(qmp, id);
    if (!job || job.status === 'null') return await closeNode(qmp, id);
    const verb = job.status === 'concluded' ? 'job-dismiss' : 'job-cancel';
    // The job may change its state between the two commands.
    await qmp.execute(verb, { id }).catch((error) => {
      if (!(error instanceof QmpRefusedError)) throw error;
    });
    if (verb === 'job-cancel') {
      await qmp.waitForEvent(
        ({ event, data }) => event === 'JOB_STATUS_CHANGE' && data?.id === id,
        CANCEL_CHECK_MS,
      );
    }
  }
  throw new ComputeError('transient', 'QEMU cannot end the snapshot job');
}

async function findJob(qmp: Qmp, id: string): Promise<Job | undefined> {
  return (await qmp.execute<Job[]>('query-jobs')).find((job) => job.id === id);
}
