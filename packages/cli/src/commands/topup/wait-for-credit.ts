/** Waits until a top-up is credited and shows the progress. */
import { type Topup, WaitError, WaitTimeoutError } from '@skerry/sdk';
import type { Context } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { describeProgress, EXPIRED_LINES, withheldLines } from './payment.ts';

const SECOND_MS = 1_000;
/** Longer than a payment takes on any of the chains. */
export const DEFAULT_TIMEOUT_S = 24 * 60 * 60;

/**
 * `remainingMs`: the time until the rate expires, by the service's clock; null if unknown. `show` receives
 * the last observed state if the wait ends early: a script needs the ID.
 */
export async function waitForCredit(
  { skerry, terminal, signal }: Context,
  topup: Topup,
  timeoutS: number | undefined,
  remainingMs: number | null,
  show: (last: Topup) => void,
): Promise<Topup> {
  const startMs = Date.now();
  let seen = topup;
  const showProgress = () =>
    terminal.progress(
      describeProgress(seen, remainingMs === null ? null : remainingMs - (Date.now() - startMs)),
    );
  showProgress();
  const timer = setInterval(showProgress, SECOND_MS);
  try {
    return await skerry.waitFor(topup, 'credited', {
      signal,
      timeoutMs: (timeoutS ?? DEFAULT_TIMEOUT_S) * SECOND_MS,
      onLook: (now) => {
        seen = now;
        // The operator decides when credits resume; waiting makes no sense.
        if (now.credit_held) throw new Failure('failed', withheldLines(now).join('\n'));
        showProgress();
      },
    });
  } catch (error) {
    terminal.progress('');
    show(seen);
    const again = `stopped waiting; the top-up stays open. To check: skerry topup describe ${topup.id}`;
    if (signal.aborted) throw new Failure('interrupted', again);
    if (error instanceof WaitTimeoutError) throw new Failure('timeout', again);
    if (error instanceof WaitError) {
      throw new Failure('failed', seen.status === 'expired' ? EXPIRED_LINES.join('\n') : error.message);
    }
    throw error;
  } finally {
    clearInterval(timer);
    terminal.progress('');
  }
}
