/** The stage `rate` of forms: attempts per address, and delays per account. It surrounds the verb. */
import { Failure, fail } from '../../kernel/fail.ts';
import type { FailureCode } from '../../spec/errors.ts';
import type { Edge } from '../settings.ts';

/** Counted per address: sign-ups, wrong passwords and recovery codes, or mails that strangers request. */
export type LimitedAttempt = 'signups' | 'failures' | 'mailings';

/** Failures that count as a wrong guess. */
const WRONG_GUESS_CODES: readonly (FailureCode | undefined)[] = [
  'bad_credentials',
  'bad_code',
  'bad_passkey',
];

/**
 * Outcomes that count, by failure code; undefined is success. A taken address counts, as a probe for
 * accounts.
 */
const COUNTS_AGAINST_LIMIT: Readonly<Record<LimitedAttempt, (code: FailureCode | undefined) => boolean>> = {
  signups: (code) => code === undefined || code === 'email_taken',
  failures: (code) => WRONG_GUESS_CODES.includes(code) || code === 'email_taken',
  mailings: (code) => code === undefined,
};

interface Attempt {
  readonly kind: LimitedAttempt;
  readonly address: string;
  /** The email or the id of the account whose password is checked. */
  readonly account: string;
}

/** Runs `verb` within its address's limit. Counting first keeps a burst from slipping through. */
export async function runLimited<Answer>(
  edge: Edge,
  { kind, address, account }: Attempt,
  verb: () => Promise<Answer>,
): Promise<Answer> {
  const retryAfterS = edge[kind].consume(address);
  if (retryAfterS > 0) fail('rate_limited', { retry_after_s: retryAfterS });
  let code: FailureCode | undefined = 'internal';
  try {
    // Without an account, as with a passkey, there is no password to guess.
    const delays = kind === 'failures' && account !== '';
    const response = delays ? await runWithBackoff(edge, account, verb) : await verb();
    code = undefined;
    return response;
  } catch (error) {
    if (error instanceof Failure) code = error.code;
    throw error;
  } finally {
    if (!COUNTS_AGAINST_LIMIT[kind](code)) edge[kind].refund(address);
  }
}

/** Runs a verb that checks a password. A wrong password or code delays the account's next attempt. */
async function runWithBackoff<Answer>(
  { backoff }: Edge,
  account: string,
  verb: () => Promise<Answer>,
): Promise<Answer> {
  await backoff.wait(account);
  try {
    const response = await verb();
    backoff.recordSuccess(account);
    return response;
  } catch (error) {
    if (error instanceof Failure && WRONG_GUESS_CODES.includes(error.code)) backoff.recordFailure(account);
    throw error;
  }
}
