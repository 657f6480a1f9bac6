/**
 * Waiting for what has no status of its own: a reboot, say, during which the server is `running` all the time. The service
 * tells of its end by an event. The stream is opened first, so that nothing is missed; where there is none, the thing
 * is looked at instead.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type StreamedEvent } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { type PollOptions, type WaitFlags, waitWithProgress } from '../terminal/wait.ts';

const OPEN_TIMEOUT_MS = 5_000;
const TIMEOUT_MS = 10 * 60_000;
/** A thing says by the second when it was last changed: changed twice within one, it looks the same. */
const SECOND_MS = 1_000;
/** Between two looks: while events are heard they only notice what ends without one. */
const POLL_INTERVALS_MS = { heard: 10_000, unheard: 2_000 };

export interface EventWait<T> {
  /** What is being done, after "web-1 is": `rebooting`. */
  readonly activity: string;
  readonly start: () => Promise<T>;
  /** Told what was begun, when the waiting ends before it is done. */
  readonly show?: (begun: T) => void;
  /** Whether this event says that it is done. */
  readonly isEndEvent: (event: StreamedEvent, begun: T) => boolean;
  /** Asked now and then. True: it is done. Fails when it can no longer be done. */
  readonly checkDone: (begun: T) => Promise<boolean>;
}

type EventStream = AsyncGenerator<StreamedEvent, void>;

interface OpenStream {
  readonly first: Promise<IteratorResult<StreamedEvent, void>>;
  readonly events: EventStream;
}

/** Begins it, waits for its end as the options say, and gives what `begin` gave. `name` begins the sentence: `web-1`. */
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
    // Its end is not to fall into the second of an earlier change.
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
        `${name} is still ${operation.activity} after ${timeoutMs / SECOND_MS} s; it goes on`,
      );
    };
    return await waitWithProgress(context, waits, name, started, wait, operation.show);
  } finally {
    ended.abort();
  }
}

/** Null: the service does not let us listen. */
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
  const timeout = sleep(OPEN_TIMEOUT_MS, 'it does not open', { signal });
  const failure = await raceQuietly([open, refused, timeout]);
  signal.throwIfAborted();
  if (failure === null) return { first, events };
  terminal.note(`Its end is looked for now and then: the stream of events is not to be had (${failure}).`);
  return null;
}

/** Until the event came. A stream that ends leaves it to the looks. */
async function waitForEndEvent(
  { first, events }: OpenStream,
  isEnd: (event: StreamedEvent) => boolean,
): Promise<false> {
  try {
    for (let next = await first; !next.done; next = await events.next()) {
      if (isEnd(next.value)) return false;
    }
  } catch {
    // The looks fail with the same reason, or do without the stream.
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

/** What settles first counts; those that are left over fail when all is over, and nobody wants to know. */
async function raceQuietly<T>(promises: readonly Promise<T>[]): Promise<T> {
  for (const promise of promises) promise.catch(() => {});
  return await Promise.race(promises);
}
