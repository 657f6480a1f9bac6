import type { IncomingMessage } from 'node:http';

const DRAIN_TIMEOUT_MS = 2_000;

/**
 * The rest of a body whose request is answered. To close the connection at once could keep the answer from a sender who
 * is still sending; to read on would let him send for hours. So it is read and thrown away a little longer, then cut.
 */
export function drainRequest(raw: IncomingMessage): void {
  if (raw.complete || raw.destroyed) return;
  const timer = setTimeout(() => {
    if (!raw.complete) raw.destroy();
  }, DRAIN_TIMEOUT_MS).unref();
  raw.once('close', () => clearTimeout(timer));
  raw.on('error', () => undefined).resume();
}
