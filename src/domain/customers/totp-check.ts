/**
 * Asking for the second factor. What is written on the way to a refusal stays, the count of wrong codes above all: so these
 * refusals are returned in a transaction, and thrown when it is committed.
 */
import { Failure } from '../../kernel/fail.ts';
import type { Database, Sql } from '../../kernel/sql.ts';
import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { countWrongCodeOfLink, type MailLinkRow } from '../../store/mail-links.ts';
import { countWrongCode, findTotp, type TotpRow, useStep } from '../../store/totp.ts';
import type { Service } from '../context.ts';
import { bareCode, isCodeOf, stepOfCode } from './totp-code.ts';

/** What secrets are sealed for. */
export const TOTP_SECRET = 'totp secret';

export interface GivenCode {
  /** As typed; empty where none was. */
  readonly code: string;
  /** Real time. */
  readonly atMs: number;
}

/**
 * Uses up the code where the account asks for one. The refusal, or null: `code_required`, `bad_code`, and `rate_limited` after
 * too many wrong ones. The caller holds the customer's lock, and has seen the password: who does not know it must not be able
 * to bring that refusal about.
 */
export async function takeCode(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  customerId: string,
  given: GivenCode,
): Promise<Failure | null> {
  const held = await findTotp(tx, customerId);
  if (!held?.confirmed_at) return null;
  if (bareCode(given.code) === '') return new Failure('code_required', { field: 'code' }, MISSING);
  const at = new Date(given.atMs);
  const hourAgo = new Date(given.atMs - HOUR_MS);
  const retryAfterS = waitS(held, hourAgo);
  if (retryAfterS > 0) return new Failure('rate_limited', { retry_after_s: retryAfterS }, TOO_MANY);
  if (await useCode(tx, openSecret(service, held), customerId, { ...given, after: held.last_step }))
    return null;
  await countWrongCode(tx, customerId, at, hourAgo);
  return badCode();
}

/**
 * The same for whoever holds a mailed link, which a thief of the mailbox does as well: wrong codes count on the link alone, and
 * those of the account neither grow by them nor close the link. Both refusals leave the account as it is; the caller has looked
 * that the link is not used up. `again`: the same form a second time, the code that was used last fits once more.
 */
export async function takeCodeByLink(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  { customer_id: customerId, digest }: MailLinkRow,
  given: GivenCode & { readonly again: boolean },
): Promise<Failure | null> {
  const held = await findTotp(tx, customerId);
  if (!held?.confirmed_at) return null;
  if (bareCode(given.code) === '') return new Failure('code_required', { field: 'code' }, MISSING);
  const secret = openSecret(service, held);
  if (given.again && isCodeOf(secret, held.last_step, given.code)) return null;
  if (await useCode(tx, secret, customerId, { ...given, after: held.last_step })) return null;
  await countWrongCodeOfLink(tx, digest);
  return badCode();
}

/** Whether it fits, and was not used before: then it is used now. */
async function useCode(
  tx: Sql,
  secret: string,
  customerId: string,
  { code, atMs, after }: GivenCode & { readonly after: number },
): Promise<boolean> {
  const step = stepOfCode(secret, code, { atMs, after });
  return step !== undefined && (await useStep(tx, customerId, step));
}

const MISSING =
  'This account asks for a one-time code, too: give the six digits that your authenticator shows.';

const TOO_MANY = 'Too many wrong one-time codes: wait and try again, or use your recovery code.';

export function badCode(): Failure {
  const why = 'The one-time code is wrong, too old, or was used before: wait for the next one.';
  return new Failure('bad_code', { field: 'code' }, why);
}

/** 0, or the seconds until codes are looked at again. */
function waitS({ wrong_codes: count, wrong_since: since }: TotpRow, hourAgo: Date): number {
  if (since === null || since <= hourAgo || count < LIMITS.totpWrongPerHour) return 0;
  return Math.ceil((since.getTime() - hourAgo.getTime()) / SECOND_MS);
}

export function openSecret({ keys }: Pick<Service, 'keys'>, { secret_sealed }: TotpRow): string {
  return keys.open(TOTP_SECRET, secret_sealed).toString();
}

/** Runs a transaction and throws the refusal that it returns, after its commit. */
export async function settled<T>(db: Database, work: (tx: Sql) => Promise<T | Failure>): Promise<T> {
  const outcome = await db.transaction(work);
  if (outcome instanceof Failure) throw outcome;
  return outcome;
}
