/**
 * The stage `rate` of forms: attempts per address, and per account. It surrounds the verb.
 *
 * A device that has signed in to the account before, or is signed in, has a budget of its own, and shares a
 * lane and a second budget with the account's other known devices. So neither a flood of guesses on the
 * account, nor one from an address that many share, shuts its customer out, and who collected cookies of one
 * account gets no more guesses. Everyone else draws on the budgets of their address and of the account.
 */
import type { AttemptBucket } from '../../domain/sessions/attempts.ts';
import { Failure, fail } from '../../kernel/fail.ts';
import type { FailureCode } from '../../spec/errors.ts';
import type { Edge } from '../settings.ts';
import { addressBuckets } from './address-buckets.ts';

/**
 * Counted per address: sign-ups, wrong passwords and recovery codes, mails that strangers request, or reports
 * of abuse.
 */
export type LimitedAttempt = 'signups' | 'failures' | 'mailings' | 'reports';

/**
 * The secret that failures guess. All operations that check the same one share its lane and budgets, so that
 * none of them gives more guesses. A passkey counts as the password that it replaces. Recovering an account
 * has its own: it is the way in during a flood of passwords.
 */
export type GuessedSecret = 'password' | 'recovery code' | 'coupon';

/** Failures that count as a wrong guess. */
const WRONG_GUESS_CODES: readonly (FailureCode | undefined)[] = [
  'bad_credentials',
  'bad_code',
  'bad_passkey',
  'bad_coupon',
];

/**
 * Outcomes that count, by failure code; undefined is success. A taken address counts, as a probe for
 * accounts.
 */
const COUNTS_AGAINST_LIMIT: Readonly<Record<LimitedAttempt, (code: FailureCode | undefined) => boolean>> = {
  signups: (code) => code === undefined || code === 'email_taken',
  failures: (code) => WRONG_GUESS_CODES.includes(code) || code === 'email_taken',
  mailings: (code) => code === undefined,
  reports: (code) => code === undefined,
};

/** More than a single network has, so that none of them can use up the budget of an account. */
const ACCOUNT_TIMES = 10;

export interface Attempt {
  readonly kind: LimitedAttempt;
  readonly address: string;
  /** The secret that is guessed, the address of its account, and the device if the account knows it. */
  readonly secret: GuessedSecret;
  readonly account: string;
  readonly device: string | null;
}

/** Runs `verb` within its limits. Counting first keeps a burst from slipping through. */
export async function runLimited<Answer>(
  edge: Edge,
  attempt: Attempt,
  verb: () => Promise<Answer>,
): Promise<Answer> {
  const { attempts, lanes } = edge;
  const buckets = bucketsOf(edge, attempt);
  const retryAfterS = await attempts.consume(buckets);
  if (retryAfterS > 0) fail('rate_limited', { retry_after_s: retryAfterS });
  let code: FailureCode | undefined = 'internal';
  try {
    // Without an account, as with the passkey of an unknown device, there is no password to guess.
    const guesses = attempt.kind === 'failures' && attempt.account !== '';
    const response = guesses ? await lanes.run(laneOf(attempt), verb) : await verb();
    code = undefined;
    return response;
  } catch (error) {
    if (error instanceof Failure) code = error.code;
    throw error;
  } finally {
    if (!COUNTS_AGAINST_LIMIT[attempt.kind](code)) await attempts.refund(buckets);
  }
}

function bucketsOf({ settings }: Edge, attempt: Attempt): AttemptBucket[] {
  const { kind, address, device } = attempt;
  const { signupsPerHour, signinFailuresPerHour } = settings;
  if (kind !== 'failures') {
    const perHour = kind === 'mailings' ? signinFailuresPerHour : signupsPerHour;
    return addressBuckets(kind, address, perHour);
  }
  if (signinFailuresPerHour === 0) return [];
  const ofAccount = { name: `${kind} ${laneOf(attempt)}`, perHour: signinFailuresPerHour * ACCOUNT_TIMES };
  if (device !== null) {
    return [{ name: `${kind} ${laneOf(attempt)} ${device}`, perHour: signinFailuresPerHour }, ofAccount];
  }
  const ofAddress = addressBuckets(kind, address, signinFailuresPerHour);
  return attempt.account === '' ? ofAddress : [...ofAddress, ofAccount];
}

function laneOf({ secret, account, device }: Attempt): string {
  const lane = device === null ? 'others' : 'known';
  return JSON.stringify([secret, account.trim().normalize('NFC').toLowerCase(), lane]);
}
