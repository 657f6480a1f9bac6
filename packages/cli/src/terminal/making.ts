/** What costs money, or is shown only once, is not made twice because its answer was lost. */
import { randomUUID } from 'node:crypto';
import { ApiError, SkerryError } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { exitOf, Failure } from '../exit-codes.ts';
import { text } from '../options.ts';

/** The option of every command that makes such a thing. */
export const ONCE = {
  idempotencyKey: text('key', 'The same line with the same key is done once in all, within 24 hours.'),
};

export interface Making {
  /** `--idempotency-key`, if given. */
  readonly key: string | undefined;
  /** Begins the sentence: `web-1`. */
  readonly what: string;
  /** The words of the command that shows whether it is there. */
  readonly look: readonly string[];
}

/** Makes it. Without an answer it fails, and says how to look, and how to ask again without making a second one. */
export async function making<T>(
  { interrupt }: Pick<Context, 'interrupt'>,
  { key, what, look }: Making,
  call: (once: { readonly idempotencyKey: string }) => Promise<T>,
): Promise<T> {
  const idempotencyKey = key ?? randomUUID();
  const hints = [
    `  to look: ${look.map(shellWord).join(' ')}`,
    `  to ask again without making a second one: the same command with --idempotency-key ${shellWord(idempotencyKey)}`,
  ].join('\n');
  interrupt.unsure(`${what} may have been made all the same\n${hints}`);
  try {
    return await call({ idempotencyKey });
  } catch (error) {
    if (!(error instanceof SkerryError) || !error.mayBeDone) throw error;
    const request = error instanceof ApiError && error.requestId ? `\n  request ${error.requestId}` : '';
    throw new Failure(exitOf(error), `${error.message}${request}\n${hints}`);
  } finally {
    interrupt.unsure(null);
  }
}

/** As it can be typed. */
function shellWord(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
