/** Waits until a server, a snapshot, or a top-up reaches a status. */

import { sleep } from './abort.ts';
import { isApiError, mayPass, WaitError, WaitTimeoutError } from './errors.ts';
import type { Server, Snapshot, Topup } from './types.ts';

/** A resource whose status changes on its own. */
export type Waitable = Server | Snapshot | Topup;

export interface WaitOptions<T> {
  /** Maximum time to wait; ten minutes by default. */
  readonly timeoutMs?: number;
  /** Time between two polls; two seconds by default. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
  /** Called with each observed state, including the first. */
  readonly onLook?: (seen: T) => void;
}

const TIMEOUT_MS = 10 * 60_000;
const INTERVAL_MS = 2_000;

/** Statuses that never change without another request. */
const TERMINAL_STATUSES: Readonly<Record<Waitable['object'], readonly string[]>> = {
  server: ['suspended', 'destroying'],
  snapshot: ['ready', 'error'],
  topup: ['credited', 'expired'],
};

/** `refresh` fetches the current state. */
export async function waitFor<T extends Waitable>(
  thing: T,
  status: T['status'],
  refresh: (id: string) => Promise<T>,
  options: WaitOptions<T> = {},
): Promise<T> {
  const { timeoutMs = TIMEOUT_MS, intervalMs = INTERVAL_MS, signal, onLook } = options;
  const deadlineMs = Date.now() + timeoutMs;
  const name = `${thing.object} ${thing.id}`;
  // A server that resumes stays suspended until it is running.
  const terminalStatuses = TERMINAL_STATUSES[thing.object].filter(
    (end) => end !== 'suspended' || thing.status !== 'suspended',
  );
  let last = thing;
  for (;;) {
    const isPastDeadline = Date.now() + intervalMs > deadlineMs;
    const current = await refresh(thing.id).catch((error: unknown) => {
      if (isApiError(error, 'not_found')) throw new WaitError(`The ${name} was deleted.`, null);
      // The operation continues while the service is unreachable.
      if (isPastDeadline || !mayPass(error)) throw error;
      return null;
    });
    if (current) onLook?.(current);
    last = current ?? last;
    if (current && last.status === status) return last;
    if (current && terminalStatuses.includes(last.status)) {
      throw new WaitError(`The ${name} is ${last.status} and will not become ${status}.`, last);
    }
    if (isPastDeadline) {
      const message = `The ${name} is still ${last.status}, not ${status}, after ${timeoutMs} ms.`;
      throw new WaitTimeoutError(message, last);
    }
    await sleep(intervalMs, signal);
  }
}
