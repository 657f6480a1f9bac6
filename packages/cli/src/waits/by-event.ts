/**
 * Waiting for what has no status of its own: a reboot, say, during which the server is `running` all the time. The service
 * tells of its end by an event. The stream is opened first, so that nothing is missed; where there is none, the thing
 * is looked at instead.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type StreamedEvent } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { type Waiting, type Waits, waiting } from '../terminal/waiting.ts';

const OPEN_MAX_MS = 5_000;
const TIMEOUT_MS = 10 * 60_000;
/** A thing says by the second when it was last changed: changed twice within one, it looks the same. */
const SECOND_MS = 1_000;
/** Between two looks: while events are heard they only notice what ends without one. */
const LOOK_EVERY_MS = { heard: 10_000, unheard: 2_000 };

export interface ByEvent<T> {
  /** What is being done, after "web-1 is": `rebooting`. */
  readonly doing: string;
  readonly begin: () => Promise<T>;
  /** Told what was begun, when the waiting ends before it is done. */
  readonly show?: (begun: T) => void;
  /** Whether this event says that it is done. */
  readonly isEnd: (event: StreamedEvent, begun: T) => boolean;
  /** Asked now and then. True: it is done. Fails when it can no longer be done. */
  readonly look: (begun: T) => Promise<boolean>;
}

type Events = AsyncGenerator<StreamedEvent, void>;

interface Heard {
  readonly first: Promise<IteratorResult<StreamedEvent, void>>;
  readonly events: Events;
}

/** Begins it, waits for its end as the options say, and gives what `begin` gave. `name` begins the sentence: `web-1`. */
export async function doneByEvent<T>(
  context: Pick<Context, 'skerry' | 'terminal' | 'signal'>,
  waits: Waits,
  name: string,
  act: ByEvent<T>,
): Promise<T> {
  if (waits.noWait) return await act.begin();
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, context.signal]);
  try {
    const heard = await listen(context, signal);
    // Its end is not to fall into the second of an earlier change.
    if (!heard) await sleep(SECOND_MS, undefined, { signal });
    const begun = await act.begin();
    const wait = async ({ timeoutMs = TIMEOUT_MS, onLook }: Waiting) => {
      onLook({ status: act.doing });
      const late = sleep(timeoutMs, true, { signal });
      const looked = looks(act, begun, LOOK_EVERY_MS[heard ? 'heard' : 'unheard'], signal);
      const end = heard ? told(heard, (event) => act.isEnd(event, begun)) : looked;
      if (!(await firstOf([end, looked, late]))) return begun;
      throw new Failure(
        'timeout',
        `${name} is still ${act.doing} after ${timeoutMs / SECOND_MS} s; it goes on`,
      );
    };
    return await waiting(context, waits, name, begun, wait, act.show);
  } finally {
    over.abort();
  }
}

/** Null: the service does not let us listen. */
async function listen(
  { skerry, terminal }: Pick<Context, 'skerry' | 'terminal'>,
  signal: AbortSignal,
): Promise<Heard | null> {
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
  const late = sleep(OPEN_MAX_MS, 'it does not open', { signal });
  const why = await firstOf([open, refused, late]);
  signal.throwIfAborted();
  if (why === null) return { first, events };
  terminal.note(`Its end is looked for now and then: the stream of events is not to be had (${why}).`);
  return null;
}

/** Until the event came. A stream that ends leaves it to the looks. */
async function told({ first, events }: Heard, isEnd: (event: StreamedEvent) => boolean): Promise<false> {
  try {
    for (let next = await first; !next.done; next = await events.next()) {
      if (isEnd(next.value)) return false;
    }
  } catch {
    // The looks fail with the same reason, or do without the stream.
  }
  return await new Promise<false>(() => {});
}

async function looks<T>(act: ByEvent<T>, begun: T, everyMs: number, signal: AbortSignal): Promise<false> {
  do await sleep(everyMs, undefined, { signal });
  while (!(await act.look(begun).catch(unlessItPasses)));
  return false;
}

function unlessItPasses(error: unknown): false {
  if (mayPass(error)) return false;
  throw error;
}

/** What settles first counts; those that are left over fail when all is over, and nobody wants to know. */
async function firstOf<T>(promises: readonly Promise<T>[]): Promise<T> {
  for (const promise of promises) promise.catch(() => {});
  return await Promise.race(promises);
}
