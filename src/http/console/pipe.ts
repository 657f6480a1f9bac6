/**
 * Carries one open console: bytes from the viewer's WebSocket to the machine's screen and back, neither faster than the
 * other side takes them, until one of them ends or its time is up.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { ViewOnlyFilter } from './view-only.ts';

/** All in real time. */
export interface PipeBounds {
  /** Without a byte in either direction. */
  readonly idleMs: number;
  readonly totalMs: number;
  /** Without a sign of life from the viewer, who is pinged. */
  readonly silentMs: number;
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
  idle: { code: 4000, reason: 'nothing happened for long' },
  time: { code: 4001, reason: 'open for too long' },
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
  readonly bounds?: PipeBounds;
}

export function pipe(
  viewer: WebSocket,
  screen: Duplex,
  { readOnly, bounds = PIPE_BOUNDS }: PipeOptions,
): Pipe {
  const opened = performance.now();
  const life = { traffic: opened, viewer: opened };
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
  carryUp(viewer, screen, { filter: readOnly ? new ViewOnlyFilter() : null, life, end });
  carryDown(viewer, screen, life);
  for (const event of ['end', 'close', 'error']) screen.on(event, () => end('screen'));
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - life.viewer > bounds.silentMs) viewer.terminate();
    else if (now - life.traffic > bounds.idleMs) end('idle');
    else if (now - opened > bounds.totalMs) end('time');
    else viewer.ping();
  }, bounds.checkEveryMs);
  const ended = new Promise<PipeEnd | 'viewer'>((resolve) => {
    viewer.once('close', () => {
      clearInterval(timer);
      screen.destroy();
      resolve(why);
    });
  });
  return { end, ended };
}

/** When something last came, by the clock of `performance.now`. */
interface Life {
  traffic: number;
  viewer: number;
}

function carryUp(
  viewer: WebSocket,
  screen: Duplex,
  { filter, life, end }: { filter: ViewOnlyFilter | null; life: Life; end: (why: PipeEnd) => void },
): void {
  viewer.on('message', (data: Buffer, isBinary) => {
    if (screen.destroyed || screen.writableEnded) return;
    if (!isBinary) return end('text');
    life.traffic = life.viewer = performance.now();
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
    life.traffic = performance.now();
    viewer.send(chunk, () => {
      // That it left our buffers is a sign of life.
      life.viewer = performance.now();
      if (viewer.bufferedAmount < AHEAD_MAX_BYTES) screen.resume();
    });
    if (viewer.bufferedAmount >= AHEAD_MAX_BYTES) screen.pause();
  });
}
