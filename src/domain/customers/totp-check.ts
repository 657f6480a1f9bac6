/**
 * Checks the second factor. Failures must commit, because they count incorrect codes. Therefore the
 * transaction returns them, and `commitThenThrow` throws them after the commit.
 */
import { Failure } from '../../kernel/fail.ts';
import type { Database, Sql } from '../../kernel/sql.ts';
import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { incrementLinkWrongCodes, type MailLinkRow } from '../../store/customers/mail-links.ts';
import { consumeTotpStep, findTotp, recordWrongCode, type TotpRow } from '../../store/customers/totp.ts';
import type { Service } from '../context.ts';
import { findStep, matchesStep, normalizeCode } from './totp-code.ts';

/** The purpose that seals the secrets. */
export const TOTP_SEAL_PURPOSE = 'totp secret';

export interface SubmittedCode {
  /** As typed; may be empty. */
  readonly code: string;
  /** Real time. */
  readonly atMs: number;
}

/**
 * Consumes the code if the account requires one. Returns null, or a failure: `code_required`, `bad_code`, or
 * `rate_limited` after too many incorrect codes. The caller holds the customer's lock and has verified the
 * password: otherwise anyone could lock the account.
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
 * Like `consumeCode`, for the holder of a mailed link, who may be an attacker with access to the mailbox.
 * Incorrect codes count per link only, and the account's lockout does not block the link. The caller has
 * checked that the link is usable. `isRepeat`: the same form was sent twice, so the last used code is
 * accepted once more.
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

/** Consumes the code if it matches and is unused; returns whether it did. */
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
  'This account requires a one-time code. Enter the six-digit code from your authenticator app.';

const TOO_MANY_CODES = 'Too many incorrect one-time codes. Try again later, or use your recovery code.';

export function badCodeFailure(): Failure {
  const message =
    'The one-time code is incorrect or was already used. Enter the current code from your authenticator app.';
  return new Failure('bad_code', { field: 'code' }, message);
}

/** Returns the seconds until codes are accepted again; 0: now. */
function lockoutS({ wrong_codes: count, wrong_since: since }: TotpRow, hourAgo: Date): number {
  if (since === null || since <= hourAgo || count < LIMITS.totpFailuresPerHour) return 0;
  return Math.ceil((since.getTime() - hourAgo.getTime()) / SECOND_MS);
}

export function openTotpSecret({ keys }: Pick<Service, 'keys'>, { secret_sealed }: TotpRow): string {
  return keys.open(TOTP_SEAL_PURPOSE, secret_sealed).toString();
}

/** Runs a transaction, commits it, and throws the failure that it returns, if any. */
export async function commitThenThrow<T>(db: Database, work: (tx: Sql) => Promise<T | Failure>): Promise<T> {
  const outcome = await db.transaction(work);
  if (outcome instanceof Failure) throw outcome;
  return outcome;
}
