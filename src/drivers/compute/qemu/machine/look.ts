/** What a machine's QEMU says of itself. */
import type { QemuHost } from '../host.ts';
import { processesOf } from '../processes.ts';
import { Qmp, QmpSilent } from '../qmp.ts';

/** Short: a QEMU that is silent is known to be there all the same, and others wait to be looked at. */
const LOOK_MAX_MS = 3_000;

/**
 * `gone`: no process. `silent`: there is one, which does not answer. `lost`: there is one, and its sockets were deleted.
 * `off`: the guest shut down. `begun`: started, and its guest was never let run.
 */
export type Sight =
  | { readonly is: 'gone' }
  | { readonly is: 'silent' | 'lost'; readonly name: string }
  | { readonly is: 'begun' | 'off' | 'halted' | 'on'; readonly name: string; readonly status: string };

/** Looks without a lock, on a socket of its own, so that nobody who works on the machine is in the way. */
export async function lookAt(host: QemuHost, id: string): Promise<Sight> {
  const socket = host.layout.running(id, 'look');
  const answer = await ask(socket);
  if (typeof answer === 'object') return answer;
  const [process] = await processesOf(socket);
  return process ? { is: answer, name: process.name } : { is: 'gone' };
}

/** Whether it runs what its name says, as far as can be known. */
export function isThere(sight: Sight): sight is Exclude<Sight, { is: 'gone' }> {
  return sight.is === 'on' || sight.is === 'halted' || isMute(sight);
}

/** A QEMU that cannot be spoken to: it goes on, until it is switched off or reset, which needs no word of it. */
export function isMute(sight: Sight): sight is Extract<Sight, { is: 'silent' | 'lost' }> {
  return sight.is === 'silent' || sight.is === 'lost';
}

async function ask(socket: string): Promise<Sight | 'silent' | 'lost'> {
  let qmp: Qmp | undefined;
  try {
    qmp = await Qmp.whoListens(socket, LOOK_MAX_MS);
    if (!qmp) return 'lost';
    const { status } = await qmp.execute<{ status: string }>('query-status');
    const { name = '' } = await qmp.execute<{ name?: string }>('query-name');
    return { is: SIGHTS[status] ?? 'on', name, status };
  } catch (error) {
    if (error instanceof QmpSilent) return 'silent';
    throw error;
  } finally {
    qmp?.close();
  }
}

/** Run states of QEMU that are not simply on. */
const SIGHTS: Readonly<Record<string, 'begun' | 'off' | 'halted'>> = {
  prelaunch: 'begun',
  shutdown: 'off',
  'io-error': 'halted',
  'internal-error': 'halted',
};
