/**
 * Limits failed sign-ins to the console: of one person from one address, of one address, and of one person.
 * An unknown person counts like a known one, so that the limits tell nothing.
 */
import { Failure, fail } from '../../kernel/fail.ts';
import { STAFF_LIMITS } from '../../spec/staff/roles.ts';
import { addressBuckets } from '../admission/address-buckets.ts';
import type { AdminEdge } from './route.ts';

interface Attempt {
  readonly email: string;
  readonly address: string;
}

/** Runs `signIn` within the limits; fails with `rate_limited`. Counting first keeps a burst from passing. */
export async function runLimited<Answer>(
  { attempts }: AdminEdge,
  attempt: Attempt,
  signIn: () => Promise<Answer>,
): Promise<Answer> {
  const buckets = bucketsOf(attempt);
  const retryAfterS = await attempts.consume(buckets);
  if (retryAfterS > 0) fail('rate_limited', { retry_after_s: retryAfterS });
  try {
    const answer = await signIn();
    await attempts.refund(buckets);
    return answer;
  } catch (error) {
    const isGuess = error instanceof Failure && error.code === 'bad_credentials';
    if (!isGuess) await attempts.refund(buckets);
    throw error;
  }
}

/** Limits wrong one-time codes of a person who is signed in: a stolen session must not guess one. */
export async function runWithCode<Answer>(
  { attempts }: Pick<AdminEdge, 'attempts'>,
  staffId: string,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const buckets = [{ name: `staff code ${staffId}`, perHour: STAFF_LIMITS.failuresPerHour }];
  const retryAfterS = await attempts.consume(buckets);
  if (retryAfterS > 0) fail('rate_limited', { retry_after_s: retryAfterS });
  try {
    const answer = await run();
    await attempts.refund(buckets);
    return answer;
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'bad_code')) await attempts.refund(buckets);
    throw error;
  }
}

function bucketsOf({ email, address }: Attempt) {
  const person = email.trim().normalize('NFC').toLowerCase().slice(0, 254);
  return [
    ...addressBuckets(`staff ${JSON.stringify(person)}`, address, STAFF_LIMITS.failuresPerHour),
    ...addressBuckets('staff', address, STAFF_LIMITS.addressFailuresPerHour),
    { name: `staff person ${person}`, perHour: STAFF_LIMITS.personFailuresPerHour },
  ];
}
