/**
 * Supervises machines: brings each to its desired state. Usually there is nothing to do, so the first check
 * takes no lock. Before acting, it takes the lock and checks again.
 */

import { existsSync } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import pMap from 'p-map';
import { describeError } from '../../../../kernel/logger.ts';
import { settlesWithin } from '../../../../kernel/timeout.ts';
import type { SupervisionResult } from '../../../../ports/compute.ts';
import { MACHINE_CONCURRENCY, type QemuHost } from '../host.ts';
import { LockBusyError } from '../lock.ts';
import { meterMachines } from '../metrics/sample.ts';
import { plugNetwork } from '../net/plug.ts';
import { repairNetwork } from '../net/repair.ts';
import { createSocketCheck } from '../processes.ts';
import { Qmp } from '../qmp.ts';
import { listRecords, type MachineRecord, readRecord } from '../record.ts';
import { type HasCarrier, readCarriers } from './carriers.ts';
import { canRestart, recordRestart } from './crashes.ts';
import { detectInstallDone } from './install-done.ts';
import { bootName, isUnresponsive, type QemuState, readQemuState, runsOwnDisk } from './qemu-state.ts';
import { replaceNic } from './replace-nic.ts';
import { start, switchOff } from './start.ts';

const LOG_MAX_BYTES = 1024 ** 2;

/**
 * How long one machine may delay the others, and the whole round its caller. Slower work continues in the
 * background.
 */
const MACHINE_TIMEOUT_MS = 8_000;
const ROUND_TIMEOUT_MS = 20_000;

type Outcome = SupervisionResult | undefined;

/** Work in progress in this process: one round at a time, and one job per machine. */
interface Supervision {
  round: Promise<SupervisionResult[]> | undefined;
  readonly machines: Map<string, Promise<Outcome>>;
}
const SUPERVISIONS = new WeakMap<QemuHost, Supervision>();

/** Returns the results of the current round if there is one; otherwise starts a round. */
export async function superviseMachines(host: QemuHost): Promise<SupervisionResult[]> {
  const supervision: Supervision = SUPERVISIONS.get(host) ?? { round: undefined, machines: new Map() };
  SUPERVISIONS.set(host, supervision);
  supervision.round ??= superviseAll(host, supervision.machines).finally(() => {
    supervision.round = undefined;
  });
  return await supervision.round;
}

async function superviseAll(
  host: QemuHost,
  inProgress: Map<string, Promise<Outcome>>,
): Promise<SupervisionResult[]> {
  const outcomes: SupervisionResult[] = [];
  await repairRules(host);
  const deadline = Date.now() + ROUND_TIMEOUT_MS;
  const [hasCarrier, hasProcess] = [await readCarriers(host), await createSocketCheck()];
  const superviseOne = async (id: string): Promise<void> => {
    const remainingMs = Math.min(MACHINE_TIMEOUT_MS, deadline - Date.now());
    // The next round handles this machine; the ones before it are then quick to check.
    if (remainingMs <= 0) return;
    const unfinished = inProgress.get(id);
    const work = unfinished ?? superviseMachine(host, id, { hasCarrier, hasProcess });
    inProgress.set(id, work);
    if (await settlesWithin(work, remainingMs)) {
      inProgress.delete(id);
      const outcome = await work;
      if (outcome) outcomes.push(outcome);
    } else if (unfinished) {
      outcomes.push({ id, outcome: 'failed', message: 'the repair is taking long' });
    }
  };
  await pMap(await listRecords(host.layout), superviseOne, { concurrency: MACHINE_CONCURRENCY });
  await meterMachines(host);
  return outcomes.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Rules that could not be restored are still missing in the next round, which tries again. */
async function repairRules(host: QemuHost): Promise<void> {
  try {
    await repairNetwork(host);
  } catch (error) {
    host.log.warn({ err: error }, 'restoring the packet filter failed');
  }
}

interface HostView {
  readonly hasCarrier: HasCarrier;
  readonly hasProcess: (socket: string) => boolean;
}

/** Reports a failure with one machine without stopping the round. */
async function superviseMachine(
  host: QemuHost,
  id: string,
  { hasCarrier, hasProcess }: HostView,
): Promise<Outcome> {
  try {
    const record = await readRecord(host.layout, id);
    if (!record) return undefined;
    const isOff = record.power === 'off' && !hasProcess(host.layout.runtimeFile(id, 'qmp'));
    if (isOff) return undefined;
    const qemu = await readQemuState(host, id);
    if (qemu.state === 'silent' && record.power === 'on') return unresponsiveOutcome(id, qemu.state);
    if (!matchesRecord(record, qemu)) return await host.withMachineLock(id, () => repairMachine(host, id));
    if (!hasCarrier(id)) return await host.withMachineLock(id, () => reconnectNetwork(host, id));
    if (record.installingSince !== null && runsOwnDisk(bootName(record), record))
      await detectInstallDone(host, record);
    await truncateLog(host.layout.machine(id, 'qemu.log'));
    return undefined;
  } catch (error) {
    // The holder of the lock is already working on the machine.
    if (error instanceof LockBusyError) return undefined;
    host.log.warn({ err: error, machine: id }, 'supervising a machine failed');
    const { message } = describeError(error) as { readonly message?: string };
    return { id, outcome: 'failed', message: message ?? 'unexpected error' };
  }
}

function matchesRecord(record: MachineRecord, qemu: QemuState): boolean {
  if (record.power === 'off') return qemu.state === 'gone';
  return qemu.state === 'on' && qemu.name === bootName(record);
}

/** Checks again under the lock, then repairs. */
async function repairMachine(host: QemuHost, id: string): Promise<SupervisionResult | undefined> {
  const record = await readRecord(host.layout, id);
  if (!record) return undefined;
  const qemu = await readQemuState(host, id);
  if (matchesRecord(record, qemu)) return undefined;
  if (record.power === 'off') {
    await switchOff(host, record);
    return undefined;
  }
  if (qemu.state === 'gone') return await restartCrashed(host, record);
  if (isUnresponsive(qemu)) return unresponsiveOutcome(id, qemu.state);
  if (qemu.state === 'begun' || qemu.name !== bootName(record)) {
    await start(host, record);
    return {
      id,
      outcome: 'restarted',
      message: 'an interrupted start or change was completed',
    };
  }
  if (qemu.state === 'off') {
    // The guest shut down on its own.
    await switchOff(host, record);
    return { id, outcome: 'off', message: 'the guest shut itself down' };
  }
  return await resumeHalted(host, id, qemu.status);
}

/** The guest may be fine or recover, so this does not end it. */
function unresponsiveOutcome(id: string, state: 'silent' | 'lost'): SupervisionResult {
  const says = {
    silent: 'QEMU does not respond; if that continues, a force restart starts it again',
    lost: 'it runs, but its sockets below /run were deleted; a force restart starts it again',
  };
  return { id, outcome: 'failed', message: says[state] };
}

async function restartCrashed(host: QemuHost, record: MachineRecord): Promise<SupervisionResult | undefined> {
  const { id } = record.spec;
  if (!(await canRestart(host, id))) {
    return {
      id,
      outcome: 'failed',
      message: 'it keeps crashing or cannot be started; retrying later',
    };
  }
  // A restart of the host empties the folder with the pid files.
  const hasCrashed = existsSync(host.layout.runtimeFile(id, 'pid'));
  await recordRestart(host, id);
  await start(host, record);
  const message = hasCrashed
    ? 'its process had exited unexpectedly'
    : 'it was off, as after a restart of this host';
  return { id, outcome: 'restarted', message };
}

/**
 * QEMU halts a guest whose disk cannot be written. Once there is space, the guest resumes where it stopped.
 */
async function resumeHalted(host: QemuHost, id: string, status: string): Promise<SupervisionResult> {
  if (status !== 'io-error')
    return { id, outcome: 'failed', message: `QEMU halted it (${status}); a force restart starts it again` };
  const qmp = await Qmp.open(host.layout.runtimeFile(id, 'qmp'));
  try {
    await qmp?.execute('cont');
  } finally {
    qmp?.close();
  }
  return {
    id,
    outcome: 'failed',
    message: 'it was halted because its disk could not be written; resuming it',
  };
}

/** Repairs a machine whose tap was deleted. */
async function reconnectNetwork(host: QemuHost, id: string): Promise<SupervisionResult | undefined> {
  const record = await readRecord(host.layout, id);
  if (!record || !matchesRecord(record, await readQemuState(host, id))) return undefined;
  if ((await readCarriers(host))(id)) return undefined;
  await plugNetwork(host, record);
  await replaceNic(host, id);
  return {
    id,
    outcome: 'restarted',
    message: 'its network interface had been deleted; it was restored while the machine kept running',
  };
}

async function truncateLog(path: string): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size > LOG_MAX_BYTES) await truncate(path);
}
