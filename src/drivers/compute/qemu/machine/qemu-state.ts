/** What a machine's QEMU says of itself. */
import type { QemuHost } from '../host.ts';
import { findProcesses } from '../processes.ts';
import { Qmp, QmpUnresponsiveError } from '../qmp.ts';

/** Short: a QEMU that is silent is known to be there all the same, and others wait to be looked at. */
const QUERY_TIMEOUT_MS = 3_000;

/**
 * `gone`: no process. `silent`: there is one, which does not answer. `lost`: there is one, and its sockets were deleted.
 * `off`: the guest shut down. `begun`: started, and its guest was never let run.
 */
export type QemuState =
  | { readonly state: 'gone' }
  | { readonly state: 'silent' | 'lost'; readonly name: string }
  | { readonly state: 'begun' | 'off' | 'halted' | 'on'; readonly name: string; readonly status: string };

/** Looks without a lock, on a socket of its own, so that nobody who works on the machine is in the way. */
export async function readQemuState(host: QemuHost, id: string): Promise<QemuState> {
  const socket = host.layout.runtimeFile(id, 'look');
  const answer = await queryQemu(socket);
  if (typeof answer === 'object') return answer;
  const [process] = await findProcesses(socket);
  return process ? { state: answer, name: process.name } : { state: 'gone' };
}

/** Whether it runs what its name says, as far as can be known. */
export function isAlive(sight: QemuState): sight is Exclude<QemuState, { state: 'gone' }> {
  return sight.state === 'on' || sight.state === 'halted' || isUnresponsive(sight);
}

/** A QEMU that cannot be spoken to: it goes on, until it is switched off or reset, which needs no word of it. */
export function isUnresponsive(sight: QemuState): sight is Extract<QemuState, { state: 'silent' | 'lost' }> {
  return sight.state === 'silent' || sight.state === 'lost';
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

/** Run states of QEMU that are not simply on. */
const STATES_BY_STATUS: Readonly<Record<string, 'begun' | 'off' | 'halted'>> = {
  prelaunch: 'begun',
  shutdown: 'off',
  'io-error': 'halted',
  'internal-error': 'halted',
};
