/** Waiting for what the service does: a person sees what it is at, a script gets the end of it. */
import type { Context } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { flag, whole } from '../options.ts';

const SECOND_MS = 1_000;
const MINUTES_MAX = 24 * 60;

/** The options of every command that waits. */
export const WAITS = {
  noWait: flag('Do not wait until it is done.'),
  timeout: whole('seconds', 'How long to wait at most; 600 when left out.', {
    min: 1,
    max: MINUTES_MAX * 60,
  }),
};

export interface Waits {
  readonly noWait: boolean;
  readonly timeout: number | undefined;
}

/** What `waitFor` of the SDK takes. `onLook` says what the thing is by now. */
export interface Waiting {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly onLook: (seen: { readonly status: string }) => void;
}

/**
 * Waits as the options say; gives `begun` back at once where they say not to. `name` begins the sentence: `web-1`. `show` is told
 * what was last seen of it when the waiting ends otherwise: what was begun goes on, and a script needs its id.
 */
export async function waiting<T>(
  { terminal, signal }: Pick<Context, 'terminal' | 'signal'>,
  waits: Waits,
  name: string,
  begun: T,
  wait: (options: Waiting) => Promise<T>,
  show?: (last: T) => void,
): Promise<T> {
  if (waits.noWait) return begun;
  const startMs = Date.now();
  let status = '';
  let last = begun;
  const say = () => {
    const passedS = Math.floor((Date.now() - startMs) / SECOND_MS);
    terminal.progress(`${name}${status ? ` is ${status}` : ''} … ${passedS} s`);
  };
  const timer = setInterval(say, SECOND_MS);
  try {
    return await wait({
      signal,
      ...(waits.timeout === undefined ? {} : { timeoutMs: waits.timeout * SECOND_MS }),
      onLook: (seen) => {
        status = seen.status;
        // What is waited for by its event is only said in a word.
        if ('id' in seen) last = seen as T;
        say();
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
