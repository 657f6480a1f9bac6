/** Waits until a top-up is credited, and says meanwhile what it is at. */
import { type Topup, WaitError, WaitTimeoutError } from '@skerry/sdk';
import type { Context } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { describeProgress } from './messages.ts';
import { EXPIRED_LINES, withheldLines } from './outcome.ts';

const SECOND_MS = 1_000;
/** A payment needs as long as its chain: a day is longer than any of them. */
export const DEFAULT_TIMEOUT_S = 24 * 60 * 60;

/**
 * `leftMs`: until the rate is kept no longer, by the service's clock; null: it is not known. `show` is told what was last seen of it
 * when the waiting ends otherwise: a script needs its id.
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
        // The operator decides when it goes on: nobody can wait for that.
        if (now.credit_held) throw new Failure('failed', withheldLines(now).join('\n'));
        showProgress();
      },
    });
  } catch (error) {
    terminal.progress('');
    show(seen);
    const again = `no longer waiting; the top-up stays open. To look again: skerry topup describe ${topup.id}`;
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
