/**
 * One-time codes as a second factor. A secret is begun after the password and asked of nobody until a code of it was seen: whoever
 * mistypes it is not locked out. The way in without the phone is the recovery code (recover.ts), and last of all the operator.
 */
import { fail } from '../../kernel/fail.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import { findCustomer, lockCustomer } from '../../store/customers.ts';
import { confirmTotpRow, deleteTotp, findTotp, putTotp, type TotpRow, useStep } from '../../store/totp.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { Within } from '../idempotency.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireCustomer } from './by-email.ts';
import { checkPassword } from './check-password.ts';
import { tellOfChange } from './tell-change.ts';
import { badCode, openSecret, settled, TOTP_SECRET, takeCode } from './totp-check.ts';
import { isCodeOf, newSecret, secretUri, stepOfCode } from './totp-code.ts';

const BEGIN_LIVES_MS = LIMITS.totpBeginMinutes * MINUTE_MS;
const IS_ON = 'One-time codes are on already: switch them off first, with a code.';
const NOT_BEGUN = 'Nothing is begun, or it was begun too long ago: begin with your password.';

export interface BegunTotp {
  /** Base32. Shown this once. */
  readonly secret: string;
  /** The same for a QR code. */
  readonly uri: string;
}

/** Makes a secret for an authenticator; one that was begun before is void. Refuses: `bad_credentials conflict_state`. */
export async function beginTotp(
  service: Service,
  actor: CustomerActor,
  form: { readonly currentPassword: string },
  within?: Within,
): Promise<BegunTotp> {
  const checked = await checkPassword(service, actor, form.currentPassword);
  const secret = newSecret();
  const { customerId } = actor;
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const customer = await lockCustomer(tx, customerId);
    if (customer?.password_hash !== checked || customer.deleting_at) fail('bad_credentials');
    const secretSealed = service.keys.seal(TOTP_SECRET, secret);
    if (!(await putTotp(tx, { customerId, secretSealed, begunAt: now }))) fail('conflict_state', {}, IS_ON);
    await recordAudit(tx, { actor, action: 'customer.begin_totp', resource: null }, now);
    const begun = { secret, uri: uriOf(service, secret, customer) };
    await within?.(tx, begun);
    return begun;
  });
}

/** What a QR code of the secret holds that is begun and not confirmed; null: there is none, or it is too old. */
export async function pendingTotpUri(
  service: Service,
  { customerId }: CustomerActor,
): Promise<string | null> {
  const begun = await findTotp(service.db, customerId);
  if (!begun || begun.confirmed_at !== null || isTooOld(begun, service.clock.now())) return null;
  const customer = await findCustomer(service.db, customerId);
  return customer ? uriOf(service, openSecret(service, begun), customer) : null;
}

function uriOf({ settings }: Service, secret: string, { email }: { readonly email: string }): string {
  return secretUri(secret, { siteName: settings.siteName, email });
}

/**
 * Switches it on by a first code, which is used up by that. The same form a second time is answered alike. Refuses:
 * `bad_code`, and `conflict_state` where nothing is begun, or it is on already.
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
    const begun = requireBegun(await findTotp(tx, customerId), now);
    const secret = openSecret(service, begun);
    if (begun.confirmed_at !== null) {
      if (isCodeOf(secret, begun.last_step, form.code)) return;
      fail('conflict_state', {}, IS_ON);
    }
    const step = stepOfCode(secret, form.code, { atMs, after: 0 });
    if (step === undefined) throw badCode();
    await useStep(tx, customerId, step);
    await confirmTotpRow(tx, customerId, now);
    await recordAudit(tx, { actor, action: 'customer.enable_totp', resource: null }, now);
    const change = { kind: 'totp_changed', on: true, by: 'customer', to: customer.email } as const;
    await tellOfChange(tx, service, actor, change, now);
  });
  service.wake();
}

function requireBegun(row: TotpRow | undefined, now: Date): TotpRow {
  return row === undefined || isTooOld(row, now) ? fail('conflict_state', {}, NOT_BEGUN) : row;
}

function isTooOld(row: TotpRow, now: Date): boolean {
  return row.confirmed_at === null && row.begun_at.getTime() + BEGIN_LIVES_MS <= now.getTime();
}

/**
 * Switches it off. Where it is off, it stays so, and no code is asked for. Refuses: `bad_credentials`, then
 * `code_required bad_code rate_limited`.
 */
export async function disableTotp(
  service: Service,
  actor: CustomerActor,
  form: { readonly currentPassword: string; readonly code: string },
  atMs = Date.now(),
): Promise<void> {
  const checked = await checkPassword(service, actor, form.currentPassword);
  const { customerId } = actor;
  await settled(service.db, async (tx) => {
    const now = service.clock.now();
    const customer = await lockCustomer(tx, customerId);
    if (customer?.password_hash !== checked) fail('bad_credentials');
    const refused = await takeCode(tx, service, customerId, { code: form.code, atMs });
    if (refused) return refused;
    const wasOn = await deleteTotp(tx, customerId);
    await recordAudit(tx, { actor, action: 'customer.disable_totp', resource: null }, now);
    if (!wasOn) return;
    const change = { kind: 'totp_changed', on: false, by: 'customer', to: customer.email } as const;
    await tellOfChange(tx, service, actor, change, now);
  });
  service.wake();
}

/** The operator, for a customer who has neither phone nor recovery code; false when it was off. */
export async function switchTotpOff(service: Service, email: string): Promise<boolean> {
  const now = service.clock.now();
  const wasOn = await service.db.transaction(async (tx) => {
    const { id: customerId } = await requireCustomer(tx, email);
    const customer = await lockCustomer(tx, customerId);
    if (!customer || !(await deleteTotp(tx, customerId))) return false;
    const actor = { ...systemActor(now), customerId };
    const change = { kind: 'totp_changed', on: false, by: 'operator', to: customer.email } as const;
    await recordAudit(tx, { actor, action: 'customer.disable_totp', resource: null }, now);
    await tellOfChange(tx, service, actor, change, now);
    return true;
  });
  if (wasOn) service.wake();
  return wasOn;
}
