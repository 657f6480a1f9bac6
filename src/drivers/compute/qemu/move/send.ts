/**
 * The source's side of a move. QEMU copies the disks first, then the memory of a running guest; for a stopped
 * one, a QEMU is started that only copies its disks. What was reached is in the record and in QEMU, so any
 * process may ask again. After a failure the guest continues here.
 *
 * The guest is paused for the last step, so it only starts while a caller waits: the answer `sent` is to be
 * followed by the commit at once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '../../../../kernel/time.ts';
import { ComputeError } from '../../../../ports/compute.ts';
import type { Move, MoveEndpoint, MoveProgress } from '../../../../ports/moves.ts';
import type { QemuHost } from '../host.ts';
import { isUnresponsive, readQemuState } from '../machine/qemu-state.ts';
import { withQmp } from '../qmp.ts';
import { type MachineRecord, readRecord, writeRecord } from '../record.ts';
import { listVolumesOf } from '../storage/volume-record.ts';
import { abandonMove } from './abandon.ts';
import { readCopies } from './block-copy.ts';
import { handOver } from './hand-over.ts';
import { readMemoryCopy } from './memory-copy.ts';
import { nodesOf } from './receive.ts';
import { startSending } from './start-sending.ts';

/** Less than callers wait for the machine's lock, and for an answer. */
const WAIT_MAX_MS = 10 * SECOND_MS;
const CHECK_EVERY_MS = 150;

const NO_MEMORY = { state: 'none', copiedBytes: 0, totalBytes: 0, message: null } as const;
const NOTHING = { copiedBytes: 0, totalBytes: 0 };

export async function sendMachine(host: QemuHost, move: Move, to: MoveEndpoint): Promise<MoveProgress> {
  const deadline = performance.now() + WAIT_MAX_MS;
  for (let isFirst = true; ; isFirst = false) {
    const work = { to, deadline, isFirst };
    const progress = await host.withMachineLock(move.machineId, () => step(host, move, work));
    if (progress.state !== 'copying' || performance.now() >= deadline) return progress;
    await pause(CHECK_EVERY_MS);
  }
}

interface Step {
  readonly to: MoveEndpoint;
  readonly deadline: number;
  /** Whether this may start the move. Later, it was started, and may have been ended by another call. */
  readonly isFirst: boolean;
}

/** Does what can be done now. A failure ends the move on this host, and its reason is the answer. */
async function step(host: QemuHost, move: Move, { to, deadline, isFirst }: Step): Promise<MoveProgress> {
  const record = await readRecord(host.layout, move.machineId);
  if (!record) return failed('the machine is not on this host');
  const { moving } = record;
  if (moving?.phase === 'sent' && moving.moveId === move.id)
    return { state: 'sent', ...NOTHING, message: null };
  if (moving?.phase === 'sent') return failed('another move of the machine is not finished');
  try {
    if (moving?.moveId === move.id && (moving.phase === 'copying' || moving.phase === 'memory'))
      return await advance(host, { move, to, record, deadline });
    if (!isFirst) return failed('the move was ended');
    // The first call, or a repetition after a kill in the middle of it.
    const kept = moving === undefined ? record : await abandonMove(host, record);
    const started: MachineRecord = { ...kept, moving: { moveId: move.id, phase: 'starting' } };
    await writeRecord(host.layout, started);
    await startSending(host, started, { move, to });
    await writeRecord(host.layout, { ...started, moving: { moveId: move.id, phase: 'copying' } });
    return { state: 'copying', ...NOTHING, message: null };
  } catch (error) {
    if (!(error instanceof ComputeError))
      host.log.error({ err: error, machine: move.machineId }, 'move failed');
    const now = await readRecord(host.layout, move.machineId);
    if (now?.moving?.phase === 'sent') throw error;
    if (now?.moving) await abandonMove(host, now);
    return failed(error instanceof ComputeError ? error.message : 'the host failed');
  }
}

function failed(message: string): MoveProgress {
  return { state: 'failed', ...NOTHING, message };
}

async function advance(
  host: QemuHost,
  sending: {
    readonly move: Move;
    readonly to: MoveEndpoint;
    readonly record: MachineRecord;
    readonly deadline: number;
  },
): Promise<MoveProgress> {
  const { move, record } = sending;
  const state = await readQemuState(host, move.machineId);
  if (state.state === 'gone' || state.state === 'off' || isUnresponsive(state))
    throw new ComputeError('transient', 'the guest was shut down, or its QEMU ended');
  const volumes = (await listVolumesOf(host, move.machineId)).filter(({ leaving }) => !leaving);
  const nodes = nodesOf(record.spec, volumes);
  const copies = await withQmp(host, move.machineId, async (qmp) => {
    if (!qmp) throw new ComputeError('transient', 'the QEMU of the machine ended');
    const disks = await readCopies(qmp, nodes);
    if (disks.state === 'failed') throw new ComputeError('transient', disks.message ?? 'copying failed');
    // Before, QEMU tells of an earlier move, also of the move that brought the guest here.
    const memory = record.moving?.phase === 'memory' ? await readMemoryCopy(qmp) : NO_MEMORY;
    if (memory.state === 'failed') throw new ComputeError('transient', memory.message ?? 'copying failed');
    return {
      isReady: disks.state === 'ready',
      copiedBytes: disks.copiedBytes + memory.copiedBytes,
      totalBytes: disks.totalBytes + memory.totalBytes,
    };
  });
  const { isReady, ...bytes } = copies;
  const isSent = isReady && (await handOver(host, { ...sending, record, nodes }));
  return { state: isSent ? 'sent' : 'copying', ...bytes, message: null };
}
