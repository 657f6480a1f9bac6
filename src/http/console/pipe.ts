/**
 * Carries one open console: bytes from the viewer's WebSocket to the machine's screen and back, at the pace
 * of the receiving side, until either side ends or a time limit is reached.
 */
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { InputDetector, ViewOnlyFilter } from './rfb-input.ts';

/** All limits are in real time. */
export interface PipeLimits {
  /** Maximum time without input from a viewer who may type. */
  readonly idleMs: number;
  readonly totalMs: number;
  /** Maximum time without a response from the viewer, which is pinged. */
  readonly silentMs: number;
  /** The interval at which these limits and `review` are checked. */
  readonly checkEveryMs: number;
}

export const PIPE_LIMITS: PipeLimits = {
  idleMs: 30 * MINUTE_MS,
  totalMs: 12 * HOUR_MS,
  // A full picture over a slow onion route can delay a pong this long.
  silentMs: 3 * MINUTE_MS,
  // Also how long a console outlives what opened it, such as a revoked token.
  checkEveryMs: 5 * SECOND_MS,
};

/** End reasons, as the page receives them: a WebSocket close code and a reason. */
export const PIPE_END_REASONS = {
  screen: { code: 1000, reason: 'the screen closed' },
  stopping: { code: 1001, reason: 'the service is restarting' },
  text: { code: 1003, reason: 'binary messages only' },
  fault: { code: 1008, reason: 'invalid RFB message' },
  idle: { code: 4000, reason: 'no input for too long' },
  time: { code: 4001, reason: 'open for too long' },
  revoked: { code: 4002, reason: 'the token was revoked or has expired' },
  frozen: { code: 4003, reason: 'the account is frozen' },
  signed_out: { code: 4004, reason: 'the session has ended' },
} as const;
export type PipeEndReason = keyof typeof PIPE_END_REASONS;

/** Above this amount of unsent data to the viewer, the screen is not read. */
const VIEWER_BUFFER_MAX_BYTES = 256 * 1024;
/** How long a viewer has to complete the closing handshake. */
const CLOSE_TIMEOUT_MS = 2 * SECOND_MS;

export interface Pipe {
  /** Ends both sides with a reason for the viewer. Further calls do nothing. */
  end(why: PipeEndReason): void;
  /** Resolves with the reason when both sides have ended, or with `viewer` if the viewer left. */
  readonly ended: Promise<PipeEndReason | 'viewer'>;
}

export interface PipeOptions {
  readonly readOnly: boolean;
  /** Called at every check. Returns the reason to end now, or null. Never fails. */
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
      // A paused viewer's closing handshake would not be read.
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

/** The time of opening and of the latest activity, by `performance.now`. */
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
      // The start of the next message can no longer be found.
      end('fault');
    }
  });
  screen.on('drain', () => viewer.resume());
  viewer.on('pong', () => {
    activity.viewer = performance.now();
  });
  // An invalid frame closes the WebSocket with its own code.
  viewer.on('error', () => undefined);
}

function forwardScreen(viewer: WebSocket, screen: Duplex, activity: PipeActivity): void {
  screen.on('data', (chunk: Buffer) => {
    if (viewer.readyState !== WebSocket.OPEN) return;
    viewer.send(chunk, () => {
      // Data that left our buffers counts as activity.
      activity.viewer = performance.now();
      if (viewer.bufferedAmount < VIEWER_BUFFER_MAX_BYTES) screen.resume();
    });
    if (viewer.bufferedAmount >= VIEWER_BUFFER_MAX_BYTES) screen.pause();
  });
}
