/** Waits for the end of an action by the event stream, and by polling while there is none. */

import { AttemptSignal, onAbort } from './abort.ts';
import { ActionFailedError, isApiError, mayPass, WaitError, WaitTimeoutError } from './errors.ts';
import type { StreamedEvent, StreamOptions } from './resources/events.ts';
import type { Action } from './types.ts';

export interface ActionWaitOptions {
  /** Maximum time to wait; ten minutes by default. */
  readonly timeoutMs?: number;
  /** Time between two polls, without an event stream or for `onLook`; two seconds by default. */
  readonly intervalMs?: number;
  readonly signal?: AbortSignal;
  /** Called with each observed state, for a progress bar. */
  readonly onLook?: (seen: Action) => void;
}

/** The calls that waiting needs. */
export interface ActionSource {
  readonly get: (id: string, signal: AbortSignal) => Promise<Action>;
  readonly stream: (options: StreamOptions) => AsyncIterable<StreamedEvent>;
}

const TIMEOUT_MS = 10 * 60_000;
const INTERVAL_MS = 2_000;
/** A stream reports the end. Polling next to it only helps if something between us holds it back. */
const HEARD_INTERVAL_MS = 15_000;

/** Returns the action once it succeeded. */
export async function waitForAction(
  id: string,
  source: ActionSource,
  options: ActionWaitOptions = {},
): Promise<Action> {
  const { timeoutMs = TIMEOUT_MS, intervalMs = INTERVAL_MS, signal, onLook } = options;
  const deadlineMs = Date.now() + timeoutMs;
  const attempt = new AttemptSignal(signal);
  const listener = new Listener(id, source, attempt.signal);
  try {
    for (;;) {
      const leftMs = Math.max(deadlineMs - Date.now(), 0);
      const pauseMs = listener.isOpen && !onLook ? HEARD_INTERVAL_MS : intervalMs;
      const heard = await listener.next(Math.min(pauseMs, leftMs));
      const isPastDeadline = Date.now() >= deadlineMs;
      const seen = heard ?? (await look(id, source, attempt.signal, isPastDeadline));
      if (seen) onLook?.(seen);
      if (seen && seen.status !== 'running') return requireSuccess(seen);
      if (isPastDeadline) {
        throw new WaitTimeoutError(`The action ${id} is still running after ${timeoutMs} ms.`, seen);
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    attempt.dispose();
  }
}

/** Null: the service is unreachable at the moment. The action continues. */
async function look(
  id: string,
  source: ActionSource,
  signal: AbortSignal,
  isPastDeadline: boolean,
): Promise<Action | null> {
  try {
    return await source.get(id, signal);
  } catch (error) {
    if (isApiError(error, 'not_found')) throw new WaitError(`The action ${id} does not exist.`, null);
    if (isPastDeadline || !mayPass(error)) throw error;
    return null;
  }
}

function requireSuccess(action: Action): Action {
  if (action.status === 'error') throw new ActionFailedError(action);
  return action;
}

/** Hears the end of the action. A stream that breaks resumes after the last event that it received. */
class Listener {
  isOpen = false;
  readonly #signal: AbortSignal;
  #heard: Action | null = null;
  #interrupt: () => void = () => {};

  constructor(id: string, source: ActionSource, signal: AbortSignal) {
    this.#signal = signal;
    // Where the stream is refused, polling takes over.
    this.#listen(id, source).catch(() => this.#setOpen(false));
  }

  /** Returns the end if it was heard; null after that time, or when the stream opened: look at it then. */
  async next(ms: number): Promise<Action | null> {
    if (this.#heard === null) await this.#pause(ms);
    return this.#heard;
  }

  async #listen(id: string, source: ActionSource): Promise<void> {
    const events = source.stream({
      signal: this.#signal,
      types: ['action.success', 'action.error'],
      onOpen: () => this.#setOpen(true),
      onBreak: () => this.#setOpen(false),
    });
    for await (const { data } of events) {
      if (data.action?.id !== id) continue;
      this.#heard = data.action;
      this.#interrupt();
      return;
    }
  }

  #setOpen(isOpen: boolean): void {
    this.isOpen = isOpen;
    this.#interrupt();
  }

  #pause(ms: number): Promise<void> {
    const signal = this.#signal;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const end = () => {
        clearTimeout(timer);
        unsubscribe();
        this.#interrupt = () => {};
        resolve();
      };
      const timer = setTimeout(end, ms);
      const unsubscribe = onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
      this.#interrupt = end;
    });
  }
}
