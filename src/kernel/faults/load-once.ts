/** Parts that a process loads with their first use. */
import { NotLoaded } from './resources.ts';

/**
 * Returns a function that runs `load` once for all calls, and again after it failed: a process that had no
 * file descriptors left for a moment must not fail until its restart. Throws `NotLoaded`.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return async () => {
    loading ??= load().catch((cause: unknown) => {
      loading = null;
      throw new NotLoaded('a part of the service cannot be loaded', { cause });
    });
    return await loading;
  };
}
