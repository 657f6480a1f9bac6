/** The state of a machine's QEMU, as QEMU reports it, and the name that tells what it was started for. */
import type { QemuHost } from '../host.ts';
import { findProcesses } from '../processes.ts';
import { Qmp, QmpUnresponsiveError } from '../qmp.ts';
import type { MachineRecord } from '../record.ts';

/** Short, because an unresponsive QEMU is detected by its process anyway and other machines are waiting. */
const QUERY_TIMEOUT_MS = 3_000;

/**
 * `gone`: no process. `silent`: a process that does not answer. `lost`: a process whose sockets were deleted.
 * `off`: the guest shut down. `begun`: started, but its guest never ran.
 */
export type QemuState =
  | { readonly state: 'gone' }
  | { readonly state: 'silent' | 'lost'; readonly name: string }
  | { readonly state: 'begun' | 'off' | 'halted' | 'on'; readonly name: string; readonly status: string };

/** Takes no lock and uses a socket of its own, so it never waits for other work on the machine. */
export async function readQemuState(host: QemuHost, id: string): Promise<QemuState> {
  const socket = host.layout.runtimeFile(id, 'look');
  const answer = await queryQemu(socket);
  if (typeof answer === 'object') return answer;
  const [process] = await findProcesses(socket);
  return process ? { state: answer, name: process.name } : { state: 'gone' };
}

/** Whether it runs what its name says, as far as we can tell. */
export function isAlive(qemu: QemuState): qemu is Exclude<QemuState, { state: 'gone' }> {
  return qemu.state === 'on' || qemu.state === 'halted' || isUnresponsive(qemu);
}

/** Whether QEMU takes no commands. It keeps running until a power-off or restart, which kill the process. */
export function isUnresponsive(qemu: QemuState): qemu is Extract<QemuState, { state: 'silent' | 'lost' }> {
  return qemu.state === 'silent' || qemu.state === 'lost';
}

async function queryQemu(socket: string): Promise<QemuState | 'silent' | 'lost'> {
  let qmp: Qmp | undefined;
  try {
    qmp = await Qmp.tryConnect(socket, QUERY_TIMEOUT_MS);
    if (!qmp) return 'lost';
    const { status } = await qmp.execute<{ status: string }>('query-status');
    const { name = '' } = await qmp.execute<{ name?: string }>('query-name');
    return { state: STATES_BY_STATUS[status] ?? 'on', name, status };
  } catch (error) {
    if (error instanceof QmpUnresponsiveError) return 'silent';
    throw error;
  } finally {
    qmp?.close();
  }
}

/** Run states of QEMU other than plain running. */
const STATES_BY_STATUS: Readonly<Record<string, 'begun' | 'off' | 'halted'>> = {
  prelaunch: 'begun',
  shutdown: 'off',
  'io-error': 'halted',
  'internal-error': 'halted',
};

/**
 * QEMU's own name records what it was started for. If we are killed between two steps, a later check detects
 * a QEMU that runs an outdated configuration.
 */

const DIGEST_CHARS = 16;

/** Returns the name for what the record wants to boot: its disk, or the rescue system with this password. */
export function bootName({ spec, generation, rescue }: MachineRecord): string {
  const target = rescue === null ? 'disk' : `rescue-${rescue.slice(0, DIGEST_CHARS)}`;
  return `${spec.id}/${generation}/${target}`;
}

export function isRescueBoot(name: string): boolean {
  return /\/rescue-[^/]+$/.test(name);
}

export function runsOwnDisk(name: string, { spec, generation }: MachineRecord): boolean {
  return name === `${spec.id}/${generation}/disk`;
}
