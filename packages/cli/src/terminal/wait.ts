/** Waiting for what the service does: a person sees what it is at, a script gets the end of it. */
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { flag, integer } from '../options.ts';

const SECOND_MS = 1_000;
const MINUTES_MAX = 24 * 60;

/** The options of every command that waits. */
export const WAIT_OPTIONS = {
  noWait: flag('Do not wait until it is done.'),
  timeout: integer('seconds', 'How long to wait at most; 600 when left out.', {
    min: 1,
    max: MINUTES_MAX * 60,
  }),
};

export interface WaitFlags {
  readonly noWait: boolean;
  readonly timeout: number | undefined;
}

/** What `waitFor` of the SDK takes. `onLook` says what the thing is by now. */
export interface PollOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly onLook: (seen: { readonly status: string }) => void;
}

/**
 * Waits as the options say; gives `begun` back at once where they say not to. `name` begins the sentence: `web-1`. `show` is told
 * what was last seen of it when the waiting ends otherwise: what was begun goes on, and a script needs its id.
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
  let status = '';
  let last = started;
  const showProgress = () => {
    const passedS = Math.floor((Date.now() - startMs) / SECOND_MS);
    terminal.progress(`${name}${status ? ` is ${status}` : ''} … ${passedS} s`);
  };
  const timer = setInterval(showProgress, SECOND_MS);
  try {
    return await wait({
      signal,
      ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout * SECOND_MS }),
      onLook: (seen) => {
        status = seen.status;
        // What is waited for by its event is only said in a word.
        if ('id' in seen) last = seen as T;
        showProgress();
      },
    });
  } catch (error) {
    terminal.progress('');
    show?.(last);
    if (signal.aborted)
      throw new Failure('interrupted', `no longer waiting for ${name}; it goes on by itself`);
    throw error;
  } finally {
    clearInterval(timer);
    terminal.progress('');
  }
}
