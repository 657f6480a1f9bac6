/** Waits for the service: shows progress to a person, and the final state to a script. */
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { flag, integer } from '../options.ts';

const SECOND_MS = 1_000;
const MINUTES_MAX = 24 * 60;

/** The options of every command that waits. */
export const WAIT_OPTIONS = {
  noWait: flag('Return immediately without waiting for completion'),
  timeout: integer('seconds', 'Maximum time to wait (default: 600)', {
    min: 1,
    max: MINUTES_MAX * 60,
  }),
};

export interface WaitFlags {
  readonly noWait: boolean;
  readonly timeout: number | undefined;
}

/** The options of the SDK's `waitFor`. `onLook` receives each observed state. */
export interface PollOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly onLook: (seen: { readonly status: string } | { readonly bar: string }) => void;
}

/**
 * Waits according to the options; returns `started` at once with `--no-wait`. `name` starts the sentence in
 * messages: `web-1`. `show` receives the last observed state if the wait ends early: the operation continues,
 * and a script needs the ID.
 */
export async function waitWithProgress<T>(
  { terminal, signal }: Pick<Context, 'terminal' | 'signal'>,
  flags: WaitFlags,
  name: string,
  started: T,
  wait: (options: PollOptions) => Promise<T>,
  show?: (last: T) => void,
): Promise<T> {
  if (flags.noWait) return started;
  const startMs = Date.now();
  let state = '';
  let last = started;
  const showProgress = () => {
    const passedS = Math.floor((Date.now() - startMs) / SECOND_MS);
    terminal.progress(`${name}${state} … ${passedS} s`);
  };
  const timer = setInterval(showProgress, SECOND_MS);
  try {
    return await wait({
      signal,
      ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout * SECOND_MS }),
      onLook: (seen) => {
        // An action reports its progress without the resource.
        if ('bar' in seen) state = ` ${seen.bar}`;
        else [state, last] = [` is ${seen.status}`, seen as T];
        showProgress();
      },
    });
  } catch (error) {
    terminal.progress('');
    show?.(last);
    if (signal.aborted)
      throw new Failure('interrupted', `stopped waiting for ${name}; the operation continues`);
    throw error;
  } finally {
    clearInterval(timer);
    terminal.progress('');
  }
}

/** Waits as above and shows the final state, or the last observed one if the wait ends early. */
export async function waitAndShow<T>(
  context: Pick<Context, 'terminal' | 'signal'>,
  flags: WaitFlags,
  name: string,
  started: T,
  wait: (options: PollOptions) => Promise<T>,
  show: (last: T) => void,
): Promise<T> {
  const last = await waitWithProgress(context, flags, name, started, wait, show);
  show(last);
  return last;
}
