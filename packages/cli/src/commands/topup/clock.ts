/** The service's clock. This machine's may be off, and whoever believes it pays when the rate is kept no longer. */
import type { Skerry } from '@skerry/sdk';

const TIMEOUT_MS = 10_000;

/** Null: it could not be asked. Only words depend on it, and what was paid is to be shown in any case. */
export async function fetchServiceTime(skerry: Skerry, signal: AbortSignal): Promise<Date | null> {
  try {
    return new Date((await skerry.balance.get({ signal, timeoutMs: TIMEOUT_MS })).as_of);
  } catch {
    return null;
  }
}
