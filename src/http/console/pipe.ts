/**
 * Carries one open console: bytes from the viewer's WebSocket to the machine's screen and back, neither faster than the
 * other side takes them, until one of them ends or its time is up.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { InputEar, ViewOnlyFilter } from './input.ts';

/** All in real time. */
export interface PipeBounds {
  /** Without input from a viewer who may give any. */
  readonly idleMs: number;
  readonly totalMs: number;
  /** Without a sign of life from the viewer, who is pinged. */
  readonly silentMs: number;
  /** How often all this is looked at, and `review` is asked. */
  readonly checkEveryMs: number;
}

export const PIPE_BOUNDS: PipeBounds = {
  idleMs: 30 * MINUTE_MS,
  totalMs: 12 * HOUR_MS,
  // A whole picture over a slow onion route delays a pong that long.
  silentMs: 3 * MINUTE_MS,
  checkEveryMs: 20 * SECOND_MS,
};

/** Why it ended, as the page is told: a WebSocket close code and a word. */
export const PIPE_ENDS = {
  screen: { code: 1000, reason: 'the screen ended' },
  stopping: { code: 1001, reason: 'the service restarts' },
  text: { code: 1003, reason: 'binary messages only' },
  fault: { code: 1008, reason: 'not RFB' },
  idle: { code: 4000, reason: 'no input for long' },
  time: { code: 4001, reason: 'open for too long' },
  revoked: { code: 4002, reason: 'its token is gone' },
  frozen: { code: 4003, reason: 'the account is frozen' },
  signed_out: { code: 4004, reason: 'its session has ended' },
} as const;
export type PipeEnd = keyof typeof PIPE_ENDS;

/** Waiting for the viewer beyond this, the screen is not read. */
const AHEAD_MAX_BYTES = 256 * 1024;
/** How long a viewer has to say goodbye. */
const GOODBYE_MS = 2 * SECOND_MS;

export interface Pipe {
  /** Ends both sides; the viewer is told why. Again: nothing. */
  end(why: PipeEnd): void;
  /** Resolves when both sides are gone: why, or `viewer` when he left. */
  readonly ended: Promise<PipeEnd | 'viewer'>;
}

export interface PipeOptions {
  readonly readOnly: boolean;
  /** Asked at every check: why it must end now, or null. Never fails. */
  readonly review?: (() => Promise<PipeEnd | null>) | undefined;
  readonly bounds?: PipeBounds | undefined;
}

export function pipe(
  viewer: WebSocket,
  screen: Duplex,
  { readOnly, review, bounds = PIPE_BOUNDS }: PipeOptions,
): Pipe {
  const opened = performance.now();
  const life = { opened, input: opened, viewer: opened };
  let why: PipeEnd | 'viewer' = 'viewer';
  function end(reason: PipeEnd): void {
    if (viewer.readyState === WebSocket.OPEN) {
      why = reason;
      viewer.close(PIPE_ENDS[reason].code, PIPE_ENDS[reason].reason);
      // His goodbye cannot be heard while he is not listened to.
      viewer.resume();
    }
    setTimeout(() => viewer.terminate(), GOODBYE_MS).unref();
    screen.destroy();
  }
  carryUp(viewer, screen, { readOnly, life, end });
  carryDown(viewer, screen, life);
  for (const event of ['end', 'close', 'error']) screen.on(event, () => end('screen'));
  const timer = watch(viewer, {
    life,
    end,
    bounds: readOnly ? { ...bounds, idleMs: Infinity } : bounds,
    review,
  });
  const ended = new Promise<PipeEnd | 'viewer'>((resolve) => {
    viewer.once('close', () => {
      clearInterval(timer);
      screen.destroy();
      resolve(why);
    });
  });
  return { end, ended };
}

/** When it was opened and when something last came, by the clock of `performance.now`. */
interface Life {
  readonly opened: number;
  input: number;
  viewer: number;
}

interface Parts {
  readonly life: Life;
  readonly end: (why: PipeEnd) => void;
}

function watch(
  viewer: WebSocket,
  { life, end, bounds, review }: Parts & { readonly bounds: PipeBounds } & Pick<PipeOptions, 'review'>,
): NodeJS.Timeout {
  let asking = false;
  return setInterval(() => {
    const now = performance.now();
    if (now - life.viewer > bounds.silentMs) return viewer.terminate();
    if (now - life.input > bounds.idleMs) return end('idle');
    if (now - life.opened > bounds.totalMs) return end('time');
    viewer.ping();
    if (!review || asking) return;
    asking = true;
    review().then((why) => {
      asking = false;
      if (why) end(why);
    });
  }, bounds.checkEveryMs);
}

function carryUp(
  viewer: WebSocket,
  screen: Duplex,
  { readOnly, life, end }: Parts & { readonly readOnly: boolean },
): void {
  const filter = readOnly ? new ViewOnlyFilter() : null;
  const ear = new InputEar();
  viewer.on('message', (data: Buffer, isBinary) => {
    if (screen.destroyed || screen.writableEnded) return;
    if (!isBinary) return end('text');
    life.viewer = performance.now();
    if (!filter && ear.hears(data)) life.input = life.viewer;
    try {
      const passed = filter ? filter.push(data) : data;
      if (passed.length > 0 && !screen.write(passed)) viewer.pause();
    } catch {
      // Where his next message begins cannot be told any more.
      end('fault');
    }
  });
  screen.on('drain', () => viewer.resume());
  viewer.on('pong', () => {
    life.viewer = performance.now();
  });
  // What is wrong with a frame closes the WebSocket by itself, with its own code.
  viewer.on('error', () => undefined);
}

function carryDown(viewer: WebSocket, screen: Duplex, life: Life): void {
  screen.on('data', (chunk: Buffer) => {
    if (viewer.readyState !== WebSocket.OPEN) return;
    viewer.send(chunk, () => {
      // That it left our buffers is a sign of life.
      life.viewer = performance.now();
      if (viewer.bufferedAmount < AHEAD_MAX_BYTES) screen.resume();
    });
    if (viewer.bufferedAmount >= AHEAD_MAX_BYTES) screen.pause();
  });
}
