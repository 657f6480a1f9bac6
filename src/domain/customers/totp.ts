/**
 * One-time codes as a second factor. A new secret is not required until a first code confirms it, so a
 * failed setup locks no one out. Without the phone, the recovery code (recover.ts) restores access, or the
 * operator as a last resort.
 */
import { fail } from '../../kernel/fail.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { SEALED } from '../../spec/sealed.ts';
import { findCustomer, lockCustomer } from '../../store/customers/customers.ts';
import {
  confirmTotpRow,
  consumeTotpStep,
  deleteTotp,
  findTotp,
  saveTotpSecret,
  type TotpRow,
} from '../../store/customers/totp.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { notifyAccountChange } from './notify-change.ts';
import { requireCustomer } from './operator.ts';
import { checkPassword, lockChecked } from './password.ts';
import {
  badCodeFailure,
  commitThenThrow,
  consumeCode,
  findStep,
  generateSecret,
  matchesStep,
  openTotpSecret,
  secretUri,
} from './totp-check.ts';

const ENROLLMENT_TTL_MS = LIMITS.totpEnrollmentMinutes * MINUTE_MS;
const ALREADY_ON = 'One-time codes are already on. Turn them off first, with a code.';
const NOT_STARTED =
  'The setup of one-time codes was not started or has expired. Start again with your password.';

export interface TotpEnrollment {
  /** Base32. Shown only here. */
  readonly secret: string;
  /** The same as a URI for a QR code. */
  readonly uri: string;
}

/** Creates a secret and discards an unconfirmed one. Fails with `bad_credentials` or `conflict_state`. */
export async function startTotp(
  service: Service,
  actor: CustomerActor,
  form: { readonly currentPassword: string },
): Promise<TotpEnrollment> {
  const checked = await checkPassword(service, actor, form.currentPassword);
  const secret = generateSecret();
  const { customerId } = actor;
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const customer = await lockChecked(tx, actor, checked);
    if (customer.deleting_at) fail('bad_credentials');
    const secretSealed = service.keys.seal(SEALED.totpSecret, customerId, secret);
    if (!(await saveTotpSecret(tx, { customerId, secretSealed, begunAt: now })))
      fail('conflict_state', {}, ALREADY_ON);
    await recordAudit(tx, { actor, action: 'customer.begin_totp', resource: null }, now);
    const started = { secret, uri: enrollmentUri(service, secret, customer) };
    await actor.saveResponse?.(tx, started);
    return started;
  });
}

/** Returns the QR code URI of the unconfirmed secret; null if there is none or it has expired. */
export async function pendingTotpUri(
  service: Service,
  { customerId }: CustomerActor,
): Promise<string | null> {
  const pending = await findTotp(service.db, customerId);
  if (!pending || pending.confirmed_at !== null || isEnrollmentExpired(pending, service.clock.now()))
    return null;
  const customer = await findCustomer(service.db, customerId);
  return customer ? enrollmentUri(service, openTotpSecret(service, pending), customer) : null;
}

function enrollmentUri({ settings }: Service, secret: string, { email }: { readonly email: string }): string {
  return secretUri(secret, { siteName: settings.siteName, email });
}

/**
 * Turns one-time codes on with a first code, which is consumed. Sending the form twice succeeds twice.
 * Fails with `bad_code`, or with `conflict_state` if no setup is pending or codes are already on.
 */
export async function confirmTotp(
  service: Service,
  actor: CustomerActor,
  form: { readonly code: string },
  atMs = Date.now(),
): Promise<void> {
  const { customerId } = actor;
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const customer = (await lockCustomer(tx, customerId)) ?? fail('auth_required');
    const started = requireStarted(await findTotp(tx, customerId), now);
    const secret = openTotpSecret(service, started);
    if (started.confirmed_at !== null) {
      if (matchesStep(secret, started.last_step, form.code)) return;
      fail('conflict_state', {}, ALREADY_ON);
    }
    const step = findStep(secret, form.code, { atMs, after: 0 });
    if (step === undefined) throw badCodeFailure();
    await consumeTotpStep(tx, customerId, step);
    await confirmTotpRow(tx, customerId, now);
    await recordAudit(tx, { actor, action: 'customer.enable_totp', resource: null }, now);
    const change = { kind: 'totp_changed', on: true, by: 'customer', to: customer.email } as const;
    await notifyAccountChange(tx, service, actor, change, now);
  });
  service.wake();
}

function requireStarted(row: TotpRow | undefined, now: Date): TotpRow {
  return row === undefined || isEnrollmentExpired(row, now) ? fail('conflict_state', {}, NOT_STARTED) : row;
}

function isEnrollmentExpired(row: TotpRow, now: Date): boolean {
  return row.confirmed_at === null && row.begun_at.getTime() + ENROLLMENT_TTL_MS <= now.getTime();
}

/**
 * Turns one-time codes off. Does nothing, and requires no code, if they are off. Fails with
 * `bad_credentials`, then `code_required`, `bad_code`, or `rate_limited`.
 */
export async function disableTotp(
  service: Service,
  actor: CustomerActor,
  form: { readonly currentPassword: string; readonly code: string },
  atMs = Date.now(),
): Promise<void> {
  const checked = await checkPassword(service, actor, form.currentPassword);
  const { customerId } = actor;
  await commitThenThrow(service.db, async (tx) => {
    const now = service.clock.now();
    const customer = await lockChecked(tx, actor, checked);
    const refused = await consumeCode(tx, service, customerId, { code: form.code, atMs });
    if (refused) return refused;
    const wasOn = await deleteTotp(tx, customerId);
    await recordAudit(tx, { actor, action: 'customer.disable_totp', resource: null }, now);
    if (!wasOn) return;
    const change = { kind: 'totp_changed', on: false, by: 'customer', to: customer.email } as const;
    await notifyAccountChange(tx, service, actor, change, now);
  });
  service.wake();
}

/** Turns codes off for a customer without phone and recovery code. Returns false if they were off. */
export async function disableTotpByOperator(service: Service, email: string): Promise<boolean> {
  const now = service.clock.now();
  const wasOn = await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, email);
    const customer = await lockCustomer(tx, customerId);
    if (!customer || !(await deleteTotp(tx, customerId))) return false;
    const actor = { ...systemActor(now), customerId };
    const change = { kind: 'totp_changed', on: false, by: 'operator', to: customer.email } as const;
    await recordAudit(tx, { actor, action: 'customer.disable_totp', resource: null }, now);
    await notifyAccountChange(tx, service, actor, change, now);
    return true;
  });
  if (wasOn) service.wake();
  return wasOn;
}
