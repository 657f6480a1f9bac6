/**
 * Reads the service's clock. This machine's may be wrong, and a wrong clock could suggest an expired rate.
 */
import type { Skerry } from '@skerry/sdk';

const TIMEOUT_MS = 10_000;

/** Null: no response. Only messages depend on the time, and the payment is shown in any case. */
export async function fetchServiceTime(skerry: Skerry, signal: AbortSignal): Promise<Date | null> {
  try {
    return new Date((await skerry.balance.get({ signal, timeoutMs: TIMEOUT_MS })).as_of);
  } catch {
    return null;
  }
}
