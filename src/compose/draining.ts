/** How a process stops that another one has replaced: no client sees an error. */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';

/** From the parent to a child: finish the open requests, and stop. */
export const DRAIN_MESSAGE = 'drain';

/** How a process stops. */
export interface Ending {
  /** Whether it waits until proxies have noticed (`SKERRY_STOP_DELAY_S`) before it stops listening. */
  readonly isDelayed: boolean;
  /** How long idle connections stay open. A client that sends meanwhile is answered, and told to close. */
  readonly idleMs: number;
  /** Requests that take longer than this are cut off. */
  readonly requestsMs: number;
}

export const ENDINGS = {
  /** No other process listens on its port. */
  stopped: { isDelayed: true, idleMs: 0, requestsMs: 6_000 },
  /** The same for a process that shares its port. */
  left: { isDelayed: false, idleMs: 5_000, requestsMs: 20_000 },
  /** A start that failed, or a child whose parent died: no client should come. */
  abandoned: { isDelayed: false, idleMs: 0, requestsMs: 6_000 },
  /** Another process serves already, so there is time. */
  replaced: { isDelayed: false, idleMs: 5_000, requestsMs: 30_000 },
} as const satisfies Readonly<Record<string, Ending>>;

/** Keeps idle connections open for a while, although the server closes. It sweeps them afterward. */
export function keepIdleConnections(server: Server, idleMs: number): void {
  const close = server.closeIdleConnections;
  server.closeIdleConnections = () => undefined;
  const restore = () => {
    server.closeIdleConnections = close;
  };
  setTimeout(restore, idleMs).unref();
}

/** Resolves when the parent asks this process to drain. */
export function waitForDrainMessage(): Promise<void> {
  return new Promise((resolve) => {
    process.on('message', (message) => {
      if (message === DRAIN_MESSAGE) resolve();
    });
  });
}

/**
 * Whether the kernel hands the connections that a process has not accepted when it stops listening to another
 * process of the port. Otherwise it resets them.
 */
export function movesConnections(): boolean {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim() === '1';
  } catch {
    return false;
  }
}
