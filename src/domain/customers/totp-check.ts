/**
 * Asking for the second factor. What is written on the way to a refusal stays, the count of wrong codes above all: so these
 * refusals are returned in a transaction, and thrown when it is committed.
 */
import { Failure } from '../../kernel/fail.ts';
import type { Database, Sql } from '../../kernel/sql.ts';
import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { incrementLinkWrongCodes, type MailLinkRow } from '../../store/mail-links.ts';
import { consumeTotpStep, findTotp, recordWrongCode, type TotpRow } from '../../store/totp.ts';
import type { Service } from '../context.ts';
import { findStep, matchesStep, normalizeCode } from './totp-code.ts';

/** What secrets are sealed for. */
export const TOTP_SEAL_PURPOSE = 'totp secret';

export interface SubmittedCode {
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
export async function consumeCode(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  customerId: string,
  given: SubmittedCode,
): Promise<Failure | null> {
  const totp = await findTotp(tx, customerId);
  if (!totp?.confirmed_at) return null;
  if (normalizeCode(given.code) === '') return new Failure('code_required', { field: 'code' }, CODE_MISSING);
  const at = new Date(given.atMs);
  const hourAgo = new Date(given.atMs - HOUR_MS);
  const retryAfterS = lockoutS(totp, hourAgo);
  if (retryAfterS > 0) return new Failure('rate_limited', { retry_after_s: retryAfterS }, TOO_MANY_CODES);
  if (await tryCode(tx, openTotpSecret(service, totp), customerId, { ...given, after: totp.last_step }))
    return null;
  await recordWrongCode(tx, customerId, at, hourAgo);
  return badCodeFailure();
}

/**
 * The same for whoever holds a mailed link, which a thief of the mailbox does as well: wrong codes count on the link alone, and
 * those of the account neither grow by them nor close the link. Both refusals leave the account as it is; the caller has looked
 * that the link is not used up. `again`: the same form a second time, the code that was used last fits once more.
 */
export async function consumeCodeForLink(
  tx: Sql,
  service: Pick<Service, 'keys'>,
  { customer_id: customerId, digest }: MailLinkRow,
  given: SubmittedCode & { readonly isRepeat: boolean },
): Promise<Failure | null> {
  const totp = await findTotp(tx, customerId);
  if (!totp?.confirmed_at) return null;
  if (normalizeCode(given.code) === '') return new Failure('code_required', { field: 'code' }, CODE_MISSING);
  const secret = openTotpSecret(service, totp);
  if (given.isRepeat && matchesStep(secret, totp.last_step, given.code)) return null;
  if (await tryCode(tx, secret, customerId, { ...given, after: totp.last_step })) return null;
  await incrementLinkWrongCodes(tx, digest);
  return badCodeFailure();
}

/** Whether it fits, and was not used before: then it is used now. */
async function tryCode(
  tx: Sql,
  secret: string,
  customerId: string,
  { code, atMs, after }: SubmittedCode & { readonly after: number },
): Promise<boolean> {
  const step = findStep(secret, code, { atMs, after });
  return step !== undefined && (await consumeTotpStep(tx, customerId, step));
}

const CODE_MISSING =
  'This account asks for a one-time code, too: give the six digits that your authenticator shows.';

const TOO_MANY_CODES = 'Too many wrong one-time codes: wait and try again, or use your recovery code.';

export function badCodeFailure(): Failure {
  const message = 'The one-time code is wrong, too old, or was used before: wait for the next one.';
  return new Failure('bad_code', { field: 'code' }, message);
}

/** 0, or the seconds until codes are looked at again. */
function lockoutS({ wrong_codes: count, wrong_since: since }: TotpRow, hourAgo: Date): number {
  if (since === null || since <= hourAgo || count < LIMITS.totpFailuresPerHour) return 0;
  return Math.ceil((since.getTime() - hourAgo.getTime()) / SECOND_MS);
}

export function openTotpSecret({ keys }: Pick<Service, 'keys'>, { secret_sealed }: TotpRow): string {
  return keys.open(TOTP_SEAL_PURPOSE, secret_sealed).toString();
}

/** Runs a transaction and throws the refusal that it returns, after its commit. */
export async function commitThenThrow<T>(db: Database, work: (tx: Sql) => Promise<T | Failure>): Promise<T> {
  const outcome = await db.transaction(work);
  if (outcome instanceof Failure) throw outcome;
  return outcome;
}
