/**
 * Carries one open console: bytes from the viewer's WebSocket to the machine's screen and back, neither faster than the
 * other side takes them, until one of them ends or its time is up.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { InputDetector, ViewOnlyFilter } from './rfb-input.ts';

/** All in real time. */
export interface PipeLimits {
  /** Without input from a viewer who may give any. */
  readonly idleMs: number;
  readonly totalMs: number;
  /** Without a sign of life from the viewer, who is pinged. */
  readonly silentMs: number;
  /** How often all this is looked at, and `review` is asked. */
  readonly checkEveryMs: number;
}

export const PIPE_LIMITS: PipeLimits = {
  idleMs: 30 * MINUTE_MS,
  totalMs: 12 * HOUR_MS,
  // A whole picture over a slow onion route delays a pong that long.
  silentMs: 3 * MINUTE_MS,
  checkEveryMs: 20 * SECOND_MS,
};

/** Why it ended, as the page is told: a WebSocket close code and a word. */
export const PIPE_END_REASONS = {
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
export type PipeEndReason = keyof typeof PIPE_END_REASONS;

/** Waiting for the viewer beyond this, the screen is not read. */
const VIEWER_BUFFER_MAX_BYTES = 256 * 1024;
/** How long a viewer has to say goodbye. */
const CLOSE_TIMEOUT_MS = 2 * SECOND_MS;

export interface Pipe {
  /** Ends both sides; the viewer is told why. Again: nothing. */
  end(why: PipeEndReason): void;
  /** Resolves when both sides are gone: why, or `viewer` when he left. */
  readonly ended: Promise<PipeEndReason | 'viewer'>;
}

export interface PipeOptions {
  readonly readOnly: boolean;
  /** Asked at every check: why it must end now, or null. Never fails. */
  readonly review?: (() => Promise<PipeEndReason | null>) | undefined;
  readonly limits?: PipeLimits | undefined;
}

export function pipe(
  viewer: WebSocket,
  screen: Duplex,
  { readOnly, review, limits = PIPE_LIMITS }: PipeOptions,
): Pipe {
  const opened = performance.now();
  const activity = { opened, input: opened, viewer: opened };
  let endReason: PipeEndReason | 'viewer' = 'viewer';
  function end(reason: PipeEndReason): void {
    if (viewer.readyState === WebSocket.OPEN) {
      endReason = reason;
      viewer.close(PIPE_END_REASONS[reason].code, PIPE_END_REASONS[reason].reason);
      // His goodbye cannot be heard while he is not listened to.
      viewer.resume();
    }
    setTimeout(() => viewer.terminate(), CLOSE_TIMEOUT_MS).unref();
    screen.destroy();
  }
  forwardInput(viewer, screen, { readOnly, activity, end });
  forwardScreen(viewer, screen, activity);
  for (const event of ['end', 'close', 'error']) screen.on(event, () => end('screen'));
  const timer = startChecks(viewer, {
    activity,
    end,
    bounds: readOnly ? { ...limits, idleMs: Infinity } : limits,
    review,
  });
  const ended = new Promise<PipeEndReason | 'viewer'>((resolve) => {
    viewer.once('close', () => {
      clearInterval(timer);
      screen.destroy();
      resolve(endReason);
    });
  });
  return { end, ended };
}

/** When it was opened and when something last came, by the clock of `performance.now`. */
interface PipeActivity {
  readonly opened: number;
  input: number;
  viewer: number;
}

interface PipeParts {
  readonly activity: PipeActivity;
  readonly end: (why: PipeEndReason) => void;
}

function startChecks(
  viewer: WebSocket,
  {
    activity,
    end,
    bounds: limits,
    review,
  }: PipeParts & { readonly bounds: PipeLimits } & Pick<PipeOptions, 'review'>,
): NodeJS.Timeout {
  let reviewing = false;
  return setInterval(() => {
    const now = performance.now();
    if (now - activity.viewer > limits.silentMs) return viewer.terminate();
    if (now - activity.input > limits.idleMs) return end('idle');
    if (now - activity.opened > limits.totalMs) return end('time');
    viewer.ping();
    if (!review || reviewing) return;
    reviewing = true;
    review().then((endReason) => {
      reviewing = false;
      if (endReason) end(endReason);
    });
  }, limits.checkEveryMs);
}

function forwardInput(
  viewer: WebSocket,
  screen: Duplex,
  { readOnly, activity, end }: PipeParts & { readonly readOnly: boolean },
): void {
  const filter = readOnly ? new ViewOnlyFilter() : null;
  const detector = new InputDetector();
  viewer.on('message', (data: Buffer, isBinary) => {
    if (screen.destroyed || screen.writableEnded) return;
    if (!isBinary) return end('text');
    activity.viewer = performance.now();
    if (!filter && detector.containsInput(data)) activity.input = activity.viewer;
    try {
      const allowed = filter ? filter.push(data) : data;
      if (allowed.length > 0 && !screen.write(allowed)) viewer.pause();
    } catch {
      // Where his next message begins cannot be told any more.
      end('fault');
    }
  });
  screen.on('drain', () => viewer.resume());
  viewer.on('pong', () => {
    activity.viewer = performance.now();
  });
  // What is wrong with a frame closes the WebSocket by itself, with its own code.
  viewer.on('error', () => undefined);
}

function forwardScreen(viewer: WebSocket, screen: Duplex, activity: PipeActivity): void {
  screen.on('data', (chunk: Buffer) => {
    if (viewer.readyState !== WebSocket.OPEN) return;
    viewer.send(chunk, () => {
      // That it left our buffers is a sign of life.
      activity.viewer = performance.now();
      if (viewer.bufferedAmount < VIEWER_BUFFER_MAX_BYTES) screen.resume();
    });
    if (viewer.bufferedAmount >= VIEWER_BUFFER_MAX_BYTES) screen.pause();
  });
}
