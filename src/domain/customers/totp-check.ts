/**
 * Checks the second factor: one-time codes as in RFC 6238, SHA-1, six digits, a new code every 30 seconds
 * of real time. The business clock does not fit: a sandbox can move it, but a phone's clock does not
 * follow.
 * Failures must commit, because they count incorrect codes. Therefore the transaction returns them, and
 * `commitThenThrow` throws them after the commit.
 */

import { HOTP, Secret, TOTP } from 'otpauth';
import { Failure } from '../../kernel/fail.ts';
import { timingSafeEqualText } from '../../kernel/secrets.ts';
import type { Database, Sql } from '../../kernel/sql.ts';
import { HOUR_MS, SECOND_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { SEALED } from '../../spec/sealed.ts';
import { incrementLinkWrongCodes, type MailLinkRow } from '../../store/customers/mail-links.ts';
import { consumeTotpStep, findTotp, recordWrongCode, type TotpRow } from '../../store/customers/totp.ts';
import type { Service } from '../context.ts';

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

export function openTotpSecret({ keys }: Pick<Service, 'keys'>, totp: TotpRow): string {
  return keys.open(SEALED.totpSecret, totp.customer_id, totp.secret_sealed).toString();
}

/** Runs a transaction, commits it, and throws the failure that it returns, if any. */
export async function commitThenThrow<T>(db: Database, work: (tx: Sql) => Promise<T | Failure>): Promise<T> {
  const outcome = await db.transaction(work);
  if (outcome instanceof Failure) throw outcome;
  return outcome;
}

/** URL-encoded length. A QR code contains the issuer twice, next to an address of any length. */
const ISSUER_MAX_CHARS = 60;
const SECRET_BYTES = 20;
const STEP_S = 30;
const TOTP_PARAMS = { algorithm: 'SHA1', digits: 6 } as const;
const SKEW_STEPS = Math.ceil(LIMITS.clockSkewS / STEP_S);

/** Returns a secret in base32, as typed into an authenticator. */
export function generateSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the QR code's `otpauth://totp/Skerry:ann%40example.org?…`. The site name tells hosts apart. */
export function secretUri(secret: string, { siteName, email }: { siteName: string; email: string }): string {
  const issuer = formatIssuer(siteName);
  return new TOTP({ ...TOTP_PARAMS, issuer, label: email, period: STEP_S, secret }).toString();
}

/** Removes colons, which end an issuer, and truncates long names. */
function formatIssuer(siteName: string): string {
  let issuer = '';
  for (const char of siteName.replaceAll(':', ' ')) {
    if (encodeURIComponent(issuer + char).length > ISSUER_MAX_CHARS) break;
    issuer += char;
  }
  return issuer.trim();
}

export function stepAt(atMs: number): number {
  return Math.floor(atMs / (STEP_S * SECOND_MS));
}

/** Returns the code of one step. */
export function codeForStep(secret: string, step: number): string {
  return HOTP.generate({ ...TOTP_PARAMS, secret: Secret.fromBase32(secret), counter: step });
}

/** Returns a code as typed, without spaces and dashes. */
export function normalizeCode(typed: string): string {
  return typed.replace(/[\s-]/g, '');
}

/** Returns the step of the code; undefined if it matches no acceptable step later than `after`. */
export function findStep(
  secret: string,
  typed: string,
  { atMs, after }: { readonly atMs: number; readonly after: number },
): number | undefined {
  const now = stepAt(atMs);
  const steps = Array.from({ length: 2 * SKEW_STEPS + 1 }, (_, index) => now - SKEW_STEPS + index);
  return steps.find((step) => step > after && matchesStep(secret, step, typed));
}

export function matchesStep(secret: string, step: number, typed: string): boolean {
  return timingSafeEqualText(codeForStep(secret, step), normalizeCode(typed));
}
