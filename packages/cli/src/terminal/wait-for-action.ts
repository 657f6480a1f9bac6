/** Waits for the action that a call began, by the event stream, and shows its progress to a person. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Action, type ActionSummary, mayPass, WaitTimeoutError } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { type PollOptions, type WaitFlags, waitWithProgress } from './wait.ts';

/** The operations that a wait calls. */
export const WAIT_OPERATIONS = ['events.stream', 'actions.get'] as const;

/** Between two looks at the progress: only a terminal shows it. */
const LOOK_MS = 1_000;
const TIMEOUT_MS = 10 * 60_000;
const BAR_CHARS = 20;

/** A resource in the response of the call that began its action. */
export interface Begun {
  /** Absent from a service before 1.7. */
  readonly action?: ActionSummary | null;
  readonly status?: string;
}

interface ActionWait<T> {
  /** Starts the sentence in messages: `web-1`. */
  readonly name: string;
  /** Reads the resource when its action has ended; null: it is deleted. */
  readonly refresh: (signal: AbortSignal) => Promise<T | null>;
  /** Whether the resource shows that the work has ended: a service before 1.7 has no actions. */
  readonly isDone: (seen: T | null) => boolean;
  /** Receives the resource at the end, or as it was last if the wait ends early. */
  readonly show?: (last: T) => void;
}

/** Waits according to the options, and returns the resource as it is then. Fails with the action's cause. */
export async function waitForBegun<T extends Begun>(
  context: Pick<Context, 'skerry' | 'terminal' | 'signal'>,
  flags: WaitFlags,
  begun: T,
  waited: ActionWait<T>,
): Promise<T> {
  const { terminal } = context;
  const { name, refresh, show } = waited;
  let last = begun;
  const wait = async (options: PollOptions): Promise<T> => {
    if (begun.action === undefined) {
      const observe = (seen: T) => {
        last = seen;
      };
      return await pollUntilDone(begun, waited, options, observe);
    }
    const failed = await awaitEnd(context, begun, name, options);
    // A person and a script need the state at the end, also after a failure.
    const reading = readPatiently(() => refresh(options.signal), options);
    last = (await (failed === null ? reading : reading.catch(() => null))) ?? last;
    if (failed !== null) throw failed;
    return last;
  };
  try {
    await waitWithProgress(context, flags, name, begun, wait);
  } catch (error) {
    terminal.progress('');
    show?.(last);
    throw error;
  }
  show?.(last);
  return last;
}

/** Statuses that a resource does not leave without another request. */
const FINAL_STATUSES = ['suspended', 'destroying', 'error'];

/** Waits for the state of the resource, where there are no actions. */
async function pollUntilDone<T extends Begun>(
  begun: T,
  { name, refresh, isDone }: ActionWait<T>,
  options: PollOptions,
  observe: (seen: T) => void,
): Promise<T> {
  const { signal, timeoutMs = TIMEOUT_MS, onLook } = options;
  const deadlineMs = Date.now() + timeoutMs;
  let last = begun;
  for (;;) {
    const leftMs = Math.max(0, deadlineMs - Date.now());
    const seen = await readPatiently(() => refresh(signal), { ...options, timeoutMs: leftMs });
    last = seen ?? last;
    observe(last);
    if (isDone(seen)) return last;
    if (seen === null) throw new Failure('failed', `${name} was deleted`);
    const { status = '' } = seen;
    onLook({ ...seen, status });
    // A server that resumes stays suspended until it is running.
    if (FINAL_STATUSES.includes(status) && status !== begun.status) {
      throw new Failure('failed', `${name} is ${status}`);
    }
    if (Date.now() > deadlineMs) {
      const seconds = Math.round(timeoutMs / 1_000);
      const message = `${name} is still ${status} after ${seconds} s; the operation continues`;
      throw new Failure('timeout', message);
    }
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/** Reads the state at the end. An outage is waited out, like one before. */
async function readPatiently<T>(
  read: () => Promise<T>,
  { signal, timeoutMs = TIMEOUT_MS }: PollOptions,
): Promise<T> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (signal.aborted || !mayPass(error) || Date.now() > deadlineMs) throw error;
      await sleep(LOOK_MS, undefined, { signal });
    }
  }
}

/** Returns why the action failed; null if it succeeded, or if nothing was to be done. */
async function awaitEnd(
  { skerry, terminal }: Pick<Context, 'skerry' | 'terminal'>,
  { action }: Begun,
  name: string,
  { signal, timeoutMs, onLook }: PollOptions,
): Promise<Failure | null> {
  if (!action) return null;
  const options = {
    signal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(terminal.showsNotes
      ? { intervalMs: LOOK_MS, onLook: (seen: Action) => onLook({ bar: formatProgress(seen) }) }
      : {}),
  };
  onLook({ bar: formatBar(action.progress) });
  try {
    await skerry.waitForAction(action, options);
    return null;
  } catch (error) {
    if (error instanceof WaitTimeoutError) return timedOut(name, action, timeoutMs);
    const { error: cause } = (error as { readonly action?: Action }).action ?? {};
    if (!cause) throw error;
    return new Failure('failed', `${name}: ${action.command} failed (${cause.code}). ${cause.message}`);
  }
}

function timedOut(name: string, { command }: ActionSummary, timeoutMs = TIMEOUT_MS): Failure {
  const seconds = Math.round(timeoutMs / 1_000);
  return new Failure(
    'timeout',
    `${name}: ${command} is still running after ${seconds} s; the operation continues`,
  );
}

/** Returns `[########............]  40% boot`. */
export function formatProgress({ progress, steps, status }: Action): string {
  const step = status === 'running' ? steps.findLast(({ started_at }) => started_at !== null) : undefined;
  return `${formatBar(progress)}${step ? ` ${step.name}` : ''}`;
}

function formatBar(progress: number): string {
  const filled = Math.round((progress / 100) * BAR_CHARS);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_CHARS - filled)}] ${String(progress).padStart(3)}%`;
}
