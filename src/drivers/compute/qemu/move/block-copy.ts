/**
 * Copies the disks of a machine with mirror jobs of its QEMU, over NBD. A job copies everything, then keeps
 * both sides equal while the guest writes, and is *ready*. Ending a ready job leaves a complete copy.
 */
import { ComputeError } from '../../../../ports/compute.ts';
import { type Qmp, QmpRefusedError } from '../qmp.ts';
import { closeNode, listBlockNodes } from '../storage/block-nodes.ts';

export const JOB_PREFIX = 'move-';
const jobOf = (node: string) => `${JOB_PREFIX}${node}`;
const targetOf = (node: string) => `to-${node}`;

interface Job {
  readonly id: string;
  readonly status: string;
  readonly 'current-progress': number;
  readonly 'total-progress': number;
  readonly error?: string;
}

export interface CopyProgress {
  /** `ready`: every job is. `failed`: a job ended, or is missing. */
  readonly state: 'copying' | 'ready' | 'failed';
  readonly copiedBytes: number;
  readonly totalBytes: number;
  readonly message: string | null;
}

/** Starts the copy of a node to its export of the same name, which has the base image already or not. */
export async function startCopy(
  qmp: Qmp,
  node: string,
  { socket, hasBase }: { readonly socket: string; readonly hasBase: boolean },
): Promise<void> {
  const server = { type: 'unix', path: socket };
  await qmp.execute('blockdev-add', {
    driver: 'nbd',
    'node-name': targetOf(node),
    server,
    export: node,
    discard: 'unmap',
  });
  await qmp.execute('blockdev-mirror', {
    'job-id': jobOf(node),
    device: node,
    target: targetOf(node),
    sync: hasBase ? 'top' : 'full',
    // A full disk of the target must not halt the guest.
    'on-target-error': 'report',
    'auto-dismiss': false,
  });
}

export async function readCopies(qmp: Qmp, nodes: readonly string[]): Promise<CopyProgress> {
  const jobs = await listJobs(qmp);
  const own = nodes.map((node) => jobs.find(({ id }) => id === jobOf(node)));
  const sum = (read: (job: Job) => number) =>
    own.reduce((total, job) => total + (job === undefined ? 0 : read(job)), 0);
  const sizes = {
    copiedBytes: sum((job) => job['current-progress']),
    totalBytes: sum((job) => job['total-progress']),
  };
  const ended = own.find((job) => job === undefined || !['created', 'running', 'ready'].includes(job.status));
  if (ended !== undefined || own.includes(undefined)) {
    const message =
      ended?.error === undefined ? 'copying a disk ended early' : `copying a disk: ${ended.error}`;
    return { state: 'failed', ...sizes, message };
  }
  const isReady = own.every((job) => job?.status === 'ready');
  return { state: isReady ? 'ready' : 'copying', ...sizes, message: null };
}

/** Whether QEMU has jobs that are not ours, such as that of a snapshot. */
export async function hasOtherJobs(qmp: Qmp): Promise<boolean> {
  return (await listJobs(qmp)).some(({ id, status }) => !id.startsWith(JOB_PREFIX) && status !== 'null');
}

const END_CHECKS = 500;
const END_CHECK_MS = 20;

/** Ends ready jobs, whose guest is paused: the copies are complete and written to disk. */
export async function completeCopies(qmp: Qmp, nodes: readonly string[]): Promise<void> {
  for (const node of nodes) await qmp.execute('block-job-cancel', { device: jobOf(node) });
  for (let checks = 0; checks < END_CHECKS; checks++) {
    const own = (await listJobs(qmp)).filter(({ id }) => nodes.some((node) => jobOf(node) === id));
    const failed = own.find(({ error }) => error !== undefined);
    if (failed || own.length < nodes.length)
      throw new ComputeError('transient', `copying a disk: ${failed?.error ?? 'its job is missing'}`);
    if (own.every(({ status }) => status === 'concluded')) return;
    await waitForJobs(qmp);
  }
  throw new ComputeError('transient', 'the last writes to a disk take too long');
}

/** Removes the jobs, in any state, and closes the connections to the target. */
export async function endCopies(qmp: Qmp): Promise<void> {
  for (let checks = 0; checks < END_CHECKS; checks++) {
    const own = (await listJobs(qmp)).filter(
      ({ id, status }) => id.startsWith(JOB_PREFIX) && status !== 'null',
    );
    if (own.length === 0) break;
    for (const { id, status } of own) {
      const isOver = status === 'concluded';
      const command = isOver ? 'job-dismiss' : 'block-job-cancel';
      // The job may end between the two commands.
      await qmp.execute(command, isOver ? { id } : { device: id, force: true }).catch((error) => {
        if (!(error instanceof QmpRefusedError)) throw error;
      });
    }
    await waitForJobs(qmp);
  }
  const targets = (await listBlockNodes(qmp)).filter((node) => node['node-name'].startsWith('to-'));
  for (const node of targets) await closeNode(qmp, node['node-name']);
}

async function waitForJobs(qmp: Qmp): Promise<void> {
  await qmp.waitForEvent(({ event }) => event === 'JOB_STATUS_CHANGE', END_CHECK_MS);
}

async function listJobs(qmp: Qmp): Promise<Job[]> {
  return await qmp.execute<Job[]>('query-jobs');
}
