/**
 * The last step on the source, with disks that are equal on both hosts. The guest is paused, the rest of its
 * memory is sent, and the copy is complete. Then the record says `sent`, and only then may the caller learn
 * it: a machine whose record doesn't say so never ran elsewhere.
 */
import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { undefinedIfMissing } from '../../../../kernel/files.ts';
import { ComputeError } from '../../../../ports/compute.ts';
import type { Move, MoveEndpoint } from '../../../../ports/moves.ts';
import { openPeerStream } from '../../host/peer.ts';
import type { QemuHost } from '../host.ts';
import { endProcess } from '../machine/process.ts';
import { unrouteNetwork } from '../net/network.ts';
import { type Qmp, withQmp } from '../qmp.ts';
import { type MachineRecord, writeRecord } from '../record.ts';
import { completeCopies, hasOtherJobs, readCopies } from './block-copy.ts';
import { completeMemoryCopy, readMemoryCopy, setSpeed, startMemoryCopy } from './memory-copy.ts';
import { ask, type FinishRequest, toldState } from './messages.ts';

const CHECK_EVERY_MS = 10;
const METRICS = ['metrics.json', 'metrics-past.json'] as const;

interface HandOver {
  readonly move: Move;
  readonly to: MoveEndpoint;
  readonly record: MachineRecord;
  readonly nodes: readonly string[];
  readonly deadline: number;
}

/** Returns whether the machine was sent; if not, its memory takes longer than the caller waits. */
export async function handOver(host: QemuHost, work: HandOver): Promise<boolean> {
  const { move, to, record } = work;
  const metrics = await readMetrics(host, move.machineId);
  // Open already when the guest pauses.
  const stream = await openPeerStream(to.address, move, 'finish');
  try {
    const isComplete = await withQmp(host, move.machineId, async (qmp) => {
      if (!qmp) throw new ComputeError('transient', 'the QEMU of the machine ended');
      return await completeCopy(host, qmp, work);
    });
    if (!isComplete) return false;
    await declareSent(host, { move, record, stream, metrics });
    return true;
  } finally {
    stream.destroy();
  }
}

async function completeCopy(
  host: QemuHost,
  qmp: Qmp,
  { move, record, nodes, deadline }: HandOver,
): Promise<boolean> {
  if (record.power === 'off') {
    await completeCopies(qmp, nodes);
    return true;
  }
  if (record.moving?.phase === 'memory') await setSpeed(qmp, 'full');
  else {
    await writeRecord(host.layout, { ...record, moving: { moveId: move.id, phase: 'memory' } });
    await startMemoryCopy(qmp, host.layout.runtimeFile(move.machineId, 'move-memory'));
  }
  if (!(await waitForPause(qmp, nodes, deadline))) {
    await setSpeed(qmp, 'held');
    return false;
  }
  if (await hasOtherJobs(qmp)) throw new ComputeError('transient', 'a snapshot was started during the move');
  await completeCopies(qmp, nodes);
  await completeMemoryCopy(qmp);
  return true;
}

/** Waits until QEMU has paused the guest for the rest of its memory. Returns false if time is up before. */
async function waitForPause(qmp: Qmp, nodes: readonly string[], deadline: number): Promise<boolean> {
  for (;;) {
    const { state, message } = await readMemoryCopy(qmp);
    if (state === 'paused') return true;
    if (state !== 'copying') throw new ComputeError('transient', message ?? 'copying the memory failed');
    if (performance.now() >= deadline) return false;
    const disks = await readCopies(qmp, nodes);
    if (disks.state === 'failed')
      throw new ComputeError('transient', disks.message ?? 'copying a disk failed');
    await pause(CHECK_EVERY_MS);
  }
}

interface Declaration {
  readonly move: Move;
  readonly record: MachineRecord;
  readonly stream: Duplex;
  readonly metrics: FinishRequest['metrics'];
}

async function declareSent(host: QemuHost, { move, record, stream, metrics }: Declaration): Promise<void> {
  // Its neighbors on this host reach it elsewhere from now on. A failed move routes it here again.
  const withdrawal = unrouteNetwork(host, record).catch((err) => {
    host.log.warn({ err, machine: move.machineId }, 'a machine that was moved away is still routed here');
  });
  await ask(stream, { state: toldState(record), metrics });
  await withdrawal;
  await writeRecord(host.layout, { ...record, moving: { moveId: move.id, phase: 'sent' } });
  if (record.power === 'off') await endProcess(host, move.machineId);
}

async function readMetrics(host: QemuHost, id: string): Promise<FinishRequest['metrics']> {
  const [now, past] = await Promise.all(
    METRICS.map(async (name) => {
      const content = await readFile(host.layout.machine(id, name)).catch(undefinedIfMissing);
      return content?.toString('base64') ?? null;
    }),
  );
  return { 'metrics.json': now ?? null, 'metrics-past.json': past ?? null };
}
