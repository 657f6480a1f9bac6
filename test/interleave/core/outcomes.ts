/** How tasks ended. */
import type { Task } from './scheduler.ts';

/** Whether it ended without an error. */
export function isDone({ state, error }: Task): boolean {
  return state === 'ended' && error === undefined;
}
