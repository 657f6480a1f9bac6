/** Waits for the service: shows progress to a person, and the final state to a script. */
import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type StreamedEvent } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { flag, integer } from '../options.ts';

const SECOND_MS = 1_000;
const MINUTES_MAX = 24 * 60;

/** The options of every command that waits. */
export const WAIT_OPTIONS = {
  noWait: flag('Return immediately without waiting for completion'),
  timeout: integer('seconds', 'Maximum time to wait (default: 600)', {
    min: 1,
    max: MINUTES_MAX * 60,
  }),
};

export interface WaitFlags {
  readonly noWait: boolean;
  readonly timeout: number | undefined;
}

/** The options of the SDK's `waitFor`. `onLook` receives each observed state. */
export interface PollOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly onLook: (seen: { readonly status: string }) => void;
}

/**
 * Waits according to the options; returns `started` at once with `--no-wait`. `name` starts the sentence in
 * messages: `web-1`. `show` receives the last observed state if the wait ends early: the operation continues,
 * and a script needs the ID.
 */
export async function waitWithProgress<T>(
  { terminal, signal }: Pick<Context, 'terminal' | 'signal'>,
  flags: WaitFlags,
  name: string,
  started: T,
  wait: (options: PollOptions) => Promise<T>,
  show?: (last: T) => void,
): Promise<T> {
  if (flags.noWait) return started;
  const startMs = Date.now();
  let status = '';
  let last = started;
  const showProgress = () => {
    const passedS = Math.floor((Date.now() - startMs) / SECOND_MS);
    terminal.progress(`${name}${status ? ` is ${status}` : ''} … ${passedS} s`);
  };
  const timer = setInterval(showProgress, SECOND_MS);
  try {
    return await wait({
      signal,
      ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout * SECOND_MS }),
      onLook: (seen) => {
        status = seen.status;
        // A wait for an event reports a status without the resource.
        if ('id' in seen) last = seen as T;
        showProgress();
      },
    });
  } catch (error) {
    terminal.progress('');
    show?.(last);
    if (signal.aborted)
      throw new Failure('interrupted', `stopped waiting for ${name}; the operation continues`);
    throw error;
  } finally {
    clearInterval(timer);
    terminal.progress('');
  }
}

/** Waits as above and shows the final state, or the last observed one if the wait ends early. */
export async function waitAndShow<T>(
  context: Pick<Context, 'terminal' | 'signal'>,
  flags: WaitFlags,
  name: string,
  started: T,
  wait: (options: PollOptions) => Promise<T>,
  show: (last: T) => void,
): Promise<T> {
  const last = await waitWithProgress(context, flags, name, started, wait, show);
  show(last);
  return last;
}

const OPEN_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 10 * 60_000;
/** With a stream, polling only catches an operation that ends without an event. */
const POLL_INTERVALS_MS = { heard: 10_000, unheard: 2_000 };

interface EventWait<T> {
  /** The activity, after "web-1 is": `rebooting`. */
  readonly activity: string;
  readonly start: () => Promise<T>;
  /** Receives the started resource if the wait ends early. */
  readonly show?: (begun: T) => void;
  /** Whether this event reports the end of the operation. */
  readonly isEndEvent: (event: StreamedEvent, begun: T) => boolean;
  /** Polled. True: the operation is done. Throws if it can no longer finish. */
  readonly checkDone: (begun: T) => Promise<boolean>;
}

interface OpenStream {
  readonly first: Promise<IteratorResult<StreamedEvent, void>>;
  readonly events: AsyncGenerator<StreamedEvent, void>;
}

/**
 * Starts an operation that no status shows (during a reboot, for example, a server stays `running`), waits
 * for its end according to the options, and returns the result of `start`. The service reports the end by an
 * event. The stream is opened first, so that no event is missed; without a stream, the resource is polled.
 * `name` starts the sentence in messages: `web-1`.
 */
export async function startAndWaitForEvent<T>(
  context: Pick<Context, 'skerry' | 'terminal' | 'signal'>,
  waits: WaitFlags,
  name: string,
  operation: EventWait<T>,
): Promise<T> {
  if (waits.noWait) return await operation.start();
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, context.signal]);
  try {
    const stream = await openStream(context, signal);
    // `updated_at` has whole seconds: keep this change out of the second of an earlier one.
    if (!stream) await sleep(SECOND_MS, undefined, { signal });
    const started = await operation.start();
    const wait = async ({ timeoutMs = TIMEOUT_MS, onLook }: PollOptions) => {
      onLook({ status: operation.activity });
      const timeout = sleep(timeoutMs, true, { signal });
      const polled = pollUntilDone(
        operation,
        started,
        POLL_INTERVALS_MS[stream ? 'heard' : 'unheard'],
        signal,
      );
      const end = stream ? waitForEndEvent(stream, (event) => operation.isEndEvent(event, started)) : polled;
      if (!(await raceQuietly([end, polled, timeout]))) return started;
      throw new Failure(
        'timeout',
        `${name} is still ${operation.activity} after ${timeoutMs / SECOND_MS} s; the operation continues`,
      );
    };
    return await waitWithProgress(context, waits, name, started, wait, operation.show);
  } finally {
    ended.abort();
  }
}

/** Null: the stream is unavailable. */
async function openStream(
  { skerry, terminal }: Pick<Context, 'skerry' | 'terminal'>,
  signal: AbortSignal,
): Promise<OpenStream | null> {
  let opened = () => {};
  const open = new Promise<null>((resolve) => {
    opened = () => resolve(null);
  });
  const events = skerry.events.stream({ signal, onOpen: opened });
  const first = events.next();
  const refused = first.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const timeout = sleep(OPEN_TIMEOUT_MS, 'timed out', { signal });
  const failure = await raceQuietly([open, refused, timeout]);
  signal.throwIfAborted();
  if (failure === null) return { first, events };
  terminal.note(`Polling for the result: the event stream is unavailable (${failure}).`);
  return null;
}

/** Resolves when the event arrives. If the stream ends, polling takes over. */
async function waitForEndEvent(
  { first, events }: OpenStream,
  isEnd: (event: StreamedEvent) => boolean,
): Promise<false> {
  try {
    for (let next = await first; !next.done; next = await events.next()) {
      if (isEnd(next.value)) return false;
    }
  } catch {
    // Polling fails for the same reason, or works without the stream.
  }
  return await new Promise<false>(() => {});
}

async function pollUntilDone<T>(
  operation: EventWait<T>,
  started: T,
  everyMs: number,
  signal: AbortSignal,
): Promise<false> {
  do await sleep(everyMs, undefined, { signal });
  while (!(await operation.checkDone(started).catch(ignoreTransient)));
  return false;
}

function ignoreTransient(error: unknown): false {
  if (mayPass(error)) return false;
  throw error;
}

/** Races promises and ignores the rejections of those that lose. */
async function raceQuietly<T>(promises: readonly Promise<T>[]): Promise<T> {
  for (const promise of promises) promise.catch(() => {});
  return await Promise.race(promises);
}
