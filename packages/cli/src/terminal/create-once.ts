/** What costs money, or is shown only once, is not made twice because its answer was lost. */
import { randomUUID } from 'node:crypto';
import { ApiError, SkerryError } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { exitFor, Failure } from '../exit-codes.ts';
import { text } from '../options.ts';

/** The option of every command that makes such a thing. */
export const IDEMPOTENCY_OPTIONS = {
  idempotencyKey: text('key', 'The same line with the same key is done once in all, within 24 hours.'),
};

export interface CreateOnceOptions {
  /** `--idempotency-key`, if given. */
  readonly key: string | undefined;
  /** Begins the sentence: `web-1`. */
  readonly subject: string;
  /** The words of the command that shows whether it is there. */
  readonly lookupCommand: readonly string[];
}

/** Makes it. Without an answer it fails, and says how to look, and how to ask again without making a second one. */
export async function createOnce<T>(
  { interrupt }: Pick<Context, 'interrupt'>,
  { key, subject, lookupCommand }: CreateOnceOptions,
  call: (once: { readonly idempotencyKey: string }) => Promise<T>,
): Promise<T> {
  const idempotencyKey = key ?? randomUUID();
  const hints = [
    `  to look: ${lookupCommand.map(quoteForShell).join(' ')}`,
    `  to ask again without making a second one: the same command with --idempotency-key ${quoteForShell(idempotencyKey)}`,
  ].join('\n');
  interrupt.describeUnknownOutcome(`${subject} may have been made all the same\n${hints}`);
  try {
    return await call({ idempotencyKey });
  } catch (error) {
    if (!(error instanceof SkerryError) || !error.mayBeDone) throw error;
    const request = error instanceof ApiError && error.requestId ? `\n  request ${error.requestId}` : '';
    throw new Failure(exitFor(error), `${error.message}${request}\n${hints}`);
  } finally {
    interrupt.describeUnknownOutcome(null);
  }
}

/** As it can be typed. */
function quoteForShell(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
