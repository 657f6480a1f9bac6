/**
 * A snapshot as a job of the QEMU that runs the guest: from the moment that it begins, QEMU saves what a block held before
 * the guest writes it. So it is of one moment, as if the power had failed then. Only what the disk has beyond its image is copied,
 * into a file that builds on the same image and on nothing else.
 */
import { rm } from 'node:fs/promises';
import { ComputeError } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { volumeSerial } from '../names.ts';
import { type Qmp, QmpRefusedError } from '../qmp.ts';
import { closeNode, listBlockNodes, openNode } from './block-nodes.ts';
import type { SnapshotRecord } from './snapshot-record.ts';
import { readDiskInfo } from './volume-file.ts';

interface Job {
  readonly id: string;
  readonly status: string;
  /** Why it failed. */
  readonly error?: string;
}

/** Of the job, and of the file that it writes. */
const jobName = (snapshotId: string) => `snap-${volumeSerial(snapshotId)}`;

/** The node of the disk that the snapshot is of; undefined when this QEMU has it not open. */
async function findSourceNode(host: QemuHost, qmp: Qmp, record: SnapshotRecord): Promise<string | undefined> {
  const path = host.layout.disk(record.machineId, record.generation);
  const nodes = await listBlockNodes(qmp);
  return nodes.find(({ drv, file }) => drv === 'qcow2' && file === path)?.['node-name'];
}

/** False when this QEMU has not the disk that it is of. What an earlier try left is taken away first. */
export async function startJob(host: QemuHost, qmp: Qmp, record: SnapshotRecord): Promise<boolean> {
  const device = await findSourceNode(host, qmp, record);
  if (device === undefined) return false;
  const { id, machineId, generation } = record;
  await endJob(qmp, id);
  const path = host.layout.snapshot(id, 'qcow2');
  await rm(path, { force: true });
  const { sizeBytes, backing } = await readDiskInfo(host, host.layout.disk(machineId, generation));
  const base = backing === null ? [] : ['-b', backing, '-F', 'qcow2'];
  await host.run('qemu-img', ['create', '-q', '-f', 'qcow2', ...base, path, String(sizeBytes)]);
  const name = jobName(id);
  await openNode(qmp, { name, path });
  // It stays when it is done, so that whoever asks next learns how it ended.
  const job = { 'job-id': name, device, target: name, sync: 'top', 'auto-dismiss': false };
  await qmp.execute('blockdev-backup', job);
  return true;
}

/** How far this QEMU is with it; `lost`: it knows nothing of it. */
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

/** Makes QEMU have neither the job nor its file; one that is not done is cancelled. */
export async function endJob(qmp: Qmp, snapshotId: string): Promise<void> {
  const id = jobName(snapshotId);
  for (let checks = 0; checks < CANCEL_CHECKS; checks++) {
    const job = await findJob(qmp, id);
    if (!job || job.status === 'null') return await closeNode(qmp, id);
    const verb = job.status === 'concluded' ? 'job-dismiss' : 'job-cancel';
    // Between two looks it may have gone on by itself.
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
  throw new ComputeError('transient', 'QEMU does not end the snapshot');
}

async function findJob(qmp: Qmp, id: string): Promise<Job | undefined> {
  return (await qmp.execute<Job[]>('query-jobs')).find((job) => job.id === id);
}
