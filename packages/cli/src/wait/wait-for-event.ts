/**
 * Waits for operations that no status shows: during a reboot, for example, a server stays `running`. The
 * service reports their end by an event. The stream is opened first, so that no event is missed; without a
 * stream, the resource is polled.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type StreamedEvent } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { type PollOptions, type WaitFlags, waitWithProgress } from '../terminal/wait.ts';

const OPEN_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 10 * 60_000;
/** `updated_at` has whole seconds: two changes within one second look the same. */
const SECOND_MS = 1_000;
/** With a stream, polling only catches an operation that ends without an event. */
const POLL_INTERVALS_MS = { heard: 10_000, unheard: 2_000 };

export interface EventWait<T> {
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

type EventStream = AsyncGenerator<StreamedEvent, void>;

interface OpenStream {
  readonly first: Promise<IteratorResult<StreamedEvent, void>>;
  readonly events: EventStream;
}

/**
 * Starts the operation, waits for its end according to the options, and returns the result of `start`. `name`
 * starts the sentence in messages: `web-1`.
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
    // Keep this change out of the second of an earlier one.
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
