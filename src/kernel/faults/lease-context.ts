/**
 * The lease on whose behalf a driver is called. It follows the call, so that a driver on another machine can
 * check it after the call got its number: calls of the next holder get higher numbers.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { LeaseLost } from '../fail.ts';

const currentLease = new AsyncLocalStorage<() => Promise<boolean>>();

/** Runs `work` for a lease that `isHeld` checks. */
export function runWithLease<T>(isHeld: () => Promise<boolean>, work: () => T): T {
  return currentLease.run(isHeld, work);
}

/** Throws LeaseLost if the caller runs for a lease that it no longer holds. */
export async function requireLeaseHeld(): Promise<void> {
  const isHeld = currentLease.getStore();
  if (isHeld !== undefined && !(await isHeld())) throw new LeaseLost();
}
