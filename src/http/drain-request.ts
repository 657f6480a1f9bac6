import type { IncomingMessage } from 'node:http';

const DRAIN_TIMEOUT_MS = 2_000;

/**
 * Reads and discards the rest of a body after its response, for a short time, then closes the connection.
 * Closing immediately could lose the response to a client that is still sending; reading on would let it send
 * for hours.
 */
export function drainRequest(raw: IncomingMessage): void {
  if (raw.complete || raw.destroyed) return;
  const timer = setTimeout(() => {
    if (!raw.complete) raw.destroy();
  }, DRAIN_TIMEOUT_MS).unref();
  raw.once('close', () => clearTimeout(timer));
  raw.on('error', () => undefined).resume();
}
