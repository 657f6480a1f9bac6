/** Waits until a server, a snapshot or a top-up has come to a status. */
import { isApiError, mayPass, WaitError, WaitTimeoutError } from './errors.ts';
import { sleep } from './sleep.ts';
import type { Server, Snapshot, Topup } from './types.ts';

/** What has a status that changes by itself. */
export type Waitable = Server | Snapshot | Topup;

export interface WaitOptions<T> {
  /** In all; ten minutes when left out. */
  readonly timeoutMs?: number;
  /** Between two looks; two seconds when left out. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
  /** Called with what each look saw, the first one, too. */
  readonly onLook?: (seen: T) => void;
}

const TIMEOUT_MS = 10 * 60_000;
const INTERVAL_MS = 2_000;

/** From where no other status comes by itself: waiting for one would not end. */
const TERMINAL_STATUSES: Readonly<Record<Waitable['object'], readonly string[]>> = {
  server: ['suspended', 'destroying'],
  snapshot: ['ready', 'error'],
  topup: ['credited', 'expired'],
};

/** `look` asks for it anew. */
export async function waitFor<T extends Waitable>(
  thing: T,
  status: T['status'],
  refresh: (id: string) => Promise<T>,
  options: WaitOptions<T> = {},
): Promise<T> {
  const { timeoutMs = TIMEOUT_MS, intervalMs = INTERVAL_MS, signal, onLook } = options;
  const deadlineMs = Date.now() + timeoutMs;
  const name = `${thing.object} ${thing.id}`;
  // A suspended server that is being started is suspended until it runs.
  const terminalStatuses = TERMINAL_STATUSES[thing.object].filter(
    (end) => end !== 'suspended' || thing.status !== 'suspended',
  );
  let last = thing;
  for (;;) {
    const isPastDeadline = Date.now() + intervalMs > deadlineMs;
    const current = await refresh(thing.id).catch((error: unknown) => {
      if (isApiError(error, 'not_found')) throw new WaitError(`The ${name} is gone.`, null);
      // What is waited for goes on while the service cannot be asked.
      if (isPastDeadline || !mayPass(error)) throw error;
      return null;
    });
    if (current) onLook?.(current);
    last = current ?? last;
    if (current && last.status === status) return last;
    if (current && terminalStatuses.includes(last.status)) {
      throw new WaitError(`The ${name} is ${last.status}; it does not become ${status} by itself.`, last);
    }
    if (isPastDeadline) {
      const message = `The ${name} is still ${last.status}, not ${status}, after ${timeoutMs} ms.`;
      throw new WaitTimeoutError(message, last);
    }
    await sleep(intervalMs, signal);
  }
}
