/**
 * Supervises machines in rounds: brings each to its desired state. `faults.ts` has the faults and their
 * repairs, `crashes.ts` when a crashed machine may start again. Usually there are none, so the first check of
 * a machine takes no lock. Before a repair, it takes the lock and checks again.
 */
import { stat, truncate } from 'node:fs/promises';
import pMap from 'p-map';
import { describeError } from '../../../../kernel/logger.ts';
import { settlesWithin } from '../../../../kernel/timeout.ts';
import type { SupervisionResult } from '../../../../ports/compute.ts';
import { MACHINE_CONCURRENCY, type QemuHost } from '../host.ts';
import { LockBusyError } from '../lock.ts';
import { METER_EVERY_MS, meterMachines } from '../metrics/sample.ts';
import { announceMachines } from '../net/announce.ts';
import { repairBlackholes } from '../net/blackhole.ts';
import { readCarriers } from '../net/link.ts';
import { storeServerBlocks } from '../net/private-networks.ts';
import { repairNetwork } from '../net/repair.ts';
import { createSocketCheck } from '../processes.ts';
import { isSent, listRecords, type MachineRecord, readRecord } from '../record.ts';
import { findFault, REPAIRS } from './faults.ts';
import { detectInstallDone } from './install-done.ts';
import { readQemuState } from './qemu-state.ts';

const LOG_MAX_BYTES = 1024 ** 2;

/**
 * How long one machine may delay the others, and the whole round its caller. Slower work continues in the
 * background.
 */
const MACHINE_TIMEOUT_MS = 8_000;
const ROUND_TIMEOUT_MS = 20_000;

type Outcome = SupervisionResult | undefined;

/** The interfaces and processes of the host, read once a round. */
interface HostView {
  readonly carriers: ReadonlyMap<string, boolean>;
  readonly hasProcess: (socket: string) => boolean;
}

export class Supervisor {
  readonly #host: QemuHost;
  #meteredAt = Number.NEGATIVE_INFINITY;
  #round: Promise<SupervisionResult[]> | undefined;
  /** Work that was slower than its round. Each machine has at most one job in this process. */
  readonly #unfinished = new Map<string, Promise<Outcome>>();

  constructor(host: QemuHost) {
    this.#host = host;
  }

  /** Returns the results of the current round if there is one; otherwise starts a round. */
  async runRound(blocks?: readonly string[]): Promise<SupervisionResult[]> {
    this.#round ??= this.#superviseAll(blocks).finally(() => {
      this.#round = undefined;
    });
    return await this.#round;
  }

  async #superviseAll(blocks: readonly string[] | undefined): Promise<SupervisionResult[]> {
    const host = this.#host;
    await repairRules(host, blocks);
    await announceMachines(host);
    const deadline = performance.now() + ROUND_TIMEOUT_MS;
    const view = { carriers: await readCarriers(host), hasProcess: await createSocketCheck() };
    const outcomes = await pMap(
      await listRecords(host.layout),
      async (id) => {
        const remainingMs = Math.min(MACHINE_TIMEOUT_MS, deadline - performance.now());
        // The next round handles this machine; the ones before it are then quick to check.
        return remainingMs > 0 ? await this.#superviseWithin(remainingMs, id, view) : undefined;
      },
      { concurrency: MACHINE_CONCURRENCY },
    );
    if (performance.now() - this.#meteredAt >= METER_EVERY_MS) {
      this.#meteredAt = performance.now();
      await meterMachines(host);
    }
    return outcomes.filter((outcome) => outcome !== undefined);
  }

  async #superviseWithin(timeoutMs: number, id: string, view: HostView): Promise<Outcome> {
    const unfinished = this.#unfinished.get(id);
    const work = unfinished ?? superviseMachine(this.#host, id, view);
    this.#unfinished.set(id, work);
    if (await settlesWithin(work, timeoutMs)) {
      this.#unfinished.delete(id);
      return await work;
    }
    return unfinished && { id, outcome: 'failed', message: 'the repair is taking long' };
  }
}

/** Rules that could not be restored are still missing in the next round, which tries again. */
async function repairRules(host: QemuHost, blocks: readonly string[] | undefined): Promise<void> {
  try {
    if (blocks) await storeServerBlocks(host, blocks);
    await repairNetwork(host);
  } catch (error) {
    host.log.warn({ err: error }, 'restoring the packet filter failed');
  }
  await repairBlackholes(host);
}

/** Reports a failure with one machine without stopping the round. */
async function superviseMachine(host: QemuHost, id: string, view: HostView): Promise<Outcome> {
  try {
    return await checkMachine(host, id, view);
  } catch (error) {
    // The holder of the lock is already working on the machine.
    if (error instanceof LockBusyError) return undefined;
    host.log.warn({ err: error, machine: id }, 'supervising a machine failed');
    const { message } = describeError(error) as { readonly message?: string };
    return { id, outcome: 'failed', message: message ?? 'unexpected error' };
  }
}

async function checkMachine(
  host: QemuHost,
  id: string,
  { carriers, hasProcess }: HostView,
): Promise<Outcome> {
  const record = await readRecord(host.layout, id);
  const isOff = record?.power === 'off' && !hasProcess(host.layout.runtimeFile(id, 'qmp'));
  if (!record || isOff || isLeftAlone(record)) return undefined;
  const qemu = await readQemuState(host, id);
  const fault = findFault(record, qemu, carriers.get(host.tap(id)) === true);
  // Do not wait for the lock: its holder may be waiting for this QEMU.
  if (fault === 'silent') return await REPAIRS.silent(host, record, qemu);
  if (fault !== null) return await host.withMachineLock(id, () => repairMachine(host, id));
  if (record.installingSince !== null && record.rescue === null) await detectInstallDone(host, record);
  await truncateLog(host.layout.machine(id, 'qemu.log'));
  return undefined;
}

/** Checks again under the lock, then repairs. */
async function repairMachine(host: QemuHost, id: string): Promise<Outcome> {
  const record = await readRecord(host.layout, id);
  if (!record || isLeftAlone(record)) return undefined;
  const qemu = await readQemuState(host, id);
  const fault = findFault(record, qemu, (await readCarriers(host)).get(host.tap(id)) === true);
  return fault === null ? undefined : await REPAIRS[fault](host, record, qemu);
}

/** Another host may run it, or it is off and its QEMU only copies its disks there. */
function isLeftAlone(record: MachineRecord): boolean {
  return isSent(record) || (record.moving !== undefined && record.power === 'off');
}

async function truncateLog(path: string): Promise<void> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size > LOG_MAX_BYTES) await truncate(path);
}
