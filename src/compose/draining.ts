/** How a process stops that another one has replaced: no client sees an error. */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';

/** From the parent to a child: finish the open requests, and stop. */
export const DRAIN_MESSAGE = 'drain';
/** For how long idle connections stay open. A client that sends meanwhile is answered, and told to close. */
const IDLE_GRACE_MS = 5_000;
/** Requests that take longer than this are cut off. */
export const DRAINED_WITHIN_MS = 30_000;

/** Keeps idle connections open for a while, although the server closes. It sweeps them afterward. */
export function keepIdleConnections(server: Server): void {
  const close = server.closeIdleConnections;
  server.closeIdleConnections = () => undefined;
  const restore = () => {
    server.closeIdleConnections = close;
  };
  setTimeout(restore, IDLE_GRACE_MS).unref();
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
