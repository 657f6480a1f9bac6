/** Faults of this machine that pass: no file descriptors, memory, or threads are left. */

const CODES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'ERR_WORKER_INIT_FAILED']);

/** A part of the service could not be read. Without file descriptors, Node reports many error codes. */
export class NotLoaded extends Error {}

/** Whether the machine refused a resource, so that the same may succeed later. */
export function lacksResources(error: unknown): boolean {
  if (error instanceof NotLoaded) return true;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && CODES.has(code);
}
