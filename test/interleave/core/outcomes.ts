/** How tasks ended. */
import { Failure } from '../../../src/kernel/fail.ts';
import type { Task } from './scheduler.ts';

/** Whether it ended without an error. */
export function isDone({ state, error }: Task): boolean {
  return state === 'ended' && error === undefined;
}

export function isRefused({ error }: Task): boolean {
  return error instanceof Failure;
}
