/** Avoids creating a resource twice when a response is lost: it may cost money or contain a secret. */
import { randomUUID } from 'node:crypto';
import { ApiError, SkerryError } from '@skerry/sdk';
import type { Context } from '../command.ts';
import { exitFor, Failure } from '../exit-codes.ts';
import { text } from '../options.ts';

/** The option of every command that creates such a resource. */
export const IDEMPOTENCY_OPTIONS = {
  idempotencyKey: text('key', 'Run the same command at most once per key within 24 hours'),
};

interface CreateOnceOptions {
  /** `--idempotency-key`, if given. */
  readonly key: string | undefined;
  /** Starts the sentence in a message: `web-1`. */
  readonly subject: string;
  /** The command that shows whether the resource exists. */
  readonly lookupCommand: readonly string[];
}

/**
 * Sends the request with an idempotency key. If the response is lost, fails with instructions to check the
 * result and to retry safely.
 */
export async function createOnce<T>(
  { interrupt }: Pick<Context, 'interrupt'>,
  { key, subject, lookupCommand }: CreateOnceOptions,
  call: (once: { readonly idempotencyKey: string }) => Promise<T>,
): Promise<T> {
  const idempotencyKey = key ?? randomUUID();
  const retryOption = `--idempotency-key ${quoteForShell(idempotencyKey)}`;
  const hints = [
    `  To check, run: ${lookupCommand.map(quoteForShell).join(' ')}`,
    `  To retry without creating a duplicate, run the same command with ${retryOption}`,
  ].join('\n');
  interrupt.describeUnknownOutcome(`${subject} may have been created\n${hints}`);
  try {
    return await call({ idempotencyKey });
  } catch (error) {
    if (!(error instanceof SkerryError) || !error.mayBeDone) throw error;
    const request = error instanceof ApiError && error.requestId ? `\n  request ID: ${error.requestId}` : '';
    throw new Failure(exitFor(error), `${error.message}${request}\n${hints}`);
  } finally {
    interrupt.describeUnknownOutcome(null);
  }
}

/** Quotes a word so that it can be pasted into a shell. */
function quoteForShell(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
