/** Staff accounts: invitations, roles, and the end of access. */
import { fail, invalidRequest } from '../../kernel/fail.ts';
import { formatId, newId, newSecretToken, parseId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339, HOUR_MS } from '../../kernel/time.ts';
import { SEALED } from '../../spec/sealed.ts';
import { STAFF_LIMITS, STAFF_ROLES, type StaffRole } from '../../spec/staff/roles.ts';
import { deleteStaffAccess, deleteStaffSessions } from '../../store/staff/access.ts';
import { deleteStaffPasskeys } from '../../store/staff/passkeys.ts';
import {
  disableStaff,
  findStaffByEmail,
  insertStaff,
  listStaff as listRows,
  lockOwners,
  lockStaff,
  renewInvitation,
  type StaffRow,
  setStaffRole,
} from '../../store/staff/staff.ts';
import type { Service } from '../context.ts';
import { requireEmail } from '../customers/email/email.ts';
import { generateSecret } from '../customers/totp-check.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'keys'>;

const CODE_BYTES = 32;

export interface StaffView {
  readonly object: 'staff';
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: StaffRole;
  readonly status: 'invited' | 'active' | 'disabled';
  readonly created_at: string;
  readonly joined_at: string | null;
}

export interface Invitation {
  readonly staff: StaffView;
  /** For the link; shown only here. */
  readonly code: string;
}

/**
 * Invites a person, or again: their earlier credentials, sessions, and API tokens stop working. `isRecovery`:
 * also the only owner. Fails with `bad_email`,
 * `invalid_request`, `conflict_state`.
 */
export async function inviteStaff(
  service: Deps,
  order: { readonly email: string; readonly name: string; readonly role: string },
  { isRecovery = false }: { readonly isRecovery?: boolean } = {},
): Promise<Invitation> {
  const email = requireEmail(order.email);
  const name = requireName(order.name);
  const role = requireRole(order.role);
  const code = newSecretToken(CODE_BYTES);
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const owners = await lockOwners(tx);
    const existing = await findStaffByEmail(tx, email.key);
    // On the machine, the only owner can be invited again: they may have lost their phone.
    if (existing && !(isRecovery && role === 'owner')) requireOtherOwner(owners, existing);
    const id = existing?.id ?? newId(now);
    const row = {
      id,
      name,
      role,
      totpSealed: service.keys.seal(SEALED.staffTotp, id, generateSecret()),
      digest: digest(code),
      until: new Date(now.getTime() + STAFF_LIMITS.inviteHours * HOUR_MS),
    };
    if (existing) {
      await renewInvitation(tx, row);
      await deleteStaffAccess(tx, id);
      await deleteStaffPasskeys(tx, id);
    } else await insertStaff(tx, { ...row, email: email.address, emailKey: email.key, now });
    return { staff: toView((await lockStaff(tx, id)) ?? fail('internal')), code };
  });
}

function requireName(text: string): string {
  const name = text.trim();
  const max = STAFF_LIMITS.nameMaxChars;
  if (name === '') invalidRequest([{ field: 'name', issue: 'required' }]);
  if ([...name].length > max) invalidRequest([{ field: 'name', issue: 'max_length', max }]);
  if (/\p{C}/u.test(name)) invalidRequest([{ field: 'name', issue: 'invalid_format' }]);
  return name;
}

export function requireRole(text: string): StaffRole {
  const role = STAFF_ROLES.find((each) => each === text);
  return role ?? invalidRequest([{ field: 'role', issue: 'invalid_value', allowed: [...STAFF_ROLES] }]);
}

/** Newest first, and whether there are more. A malformed id matches nothing. */
export async function listStaff(
  { db }: Pick<Deps, 'db'>,
  { before, limit }: { readonly before?: string; readonly limit: number },
): Promise<{ readonly people: readonly StaffView[]; readonly hasMore: boolean }> {
  const beforeId = before === undefined ? null : parseId('staff', before);
  if (beforeId === undefined) return { people: [], hasMore: false };
  const rows = await listRows(db, { beforeId, limit: limit + 1 });
  return { people: rows.slice(0, limit).map(toView), hasMore: rows.length > limit };
}

/** Fails with `not_found`. */
export async function readStaff({ db }: Pick<Deps, 'db'>, name: string): Promise<StaffView> {
  return toView(await db.transaction((tx) => lockNamed(tx, name)));
}

/** Finds a person with access by `stf_…` or by email address. Fails with `not_found`. */
export async function requireStaff({ db }: Pick<Deps, 'db'>, name: string) {
  const row = await db.transaction((tx) => lockNamed(tx, name));
  if (row.disabled_at) fail('not_found', {}, 'This person no longer has access.');
  return { staffId: row.id, role: row.role };
}

/** Finds a person by `stf_…` or by email address, and locks them. Fails with `not_found`. */
async function lockNamed(tx: Sql, name: string): Promise<StaffRow> {
  const id = parseId('staff', name) ?? (await findStaffByEmail(tx, name.trim().toLowerCase()))?.id;
  return (
    (id && (await lockStaff(tx, id))) || fail('not_found', {}, 'No person has this id or email address.')
  );
}

/** Fails with `not_found`, or with `conflict_state` for the only owner. Returns the person as changed. */
export async function changeRole(service: Deps, name: string, roleText: string): Promise<StaffView> {
  const role = requireRole(roleText);
  return await service.db.transaction(async (tx) => {
    const owners = await lockOwners(tx);
    const row = await lockNamed(tx, name);
    if (role !== 'owner') requireOtherOwner(owners, row);
    await setStaffRole(tx, row.id, role);
    // A session keeps no rights of the earlier role.
    await deleteStaffSessions(tx, row.id);
    return toView({ ...row, role });
  });
}

/** Ends all access. Fails like `changeRole`. */
export async function endAccess(service: Deps, name: string): Promise<StaffView> {
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const owners = await lockOwners(tx);
    const row = await lockNamed(tx, name);
    requireOtherOwner(owners, row);
    await disableStaff(tx, row.id, now);
    await deleteStaffAccess(tx, row.id);
    return toView({ ...row, disabled_at: row.disabled_at ?? now });
  });
}

/** Ends sessions and revokes API tokens. Returns how many there were. */
export async function endStaffSessions(
  service: Deps,
  name: string,
): Promise<{ readonly sessions: number; readonly tokens: number }> {
  return await service.db.transaction(async (tx) => {
    const { id } = await lockNamed(tx, name);
    return await deleteStaffAccess(tx, id);
  });
}

function requireOtherOwner(owners: readonly string[], { id }: StaffRow): void {
  if (owners.length === 1 && owners[0] === id) keepOneOwner();
}

function keepOneOwner(): never {
  fail('conflict_state', {}, 'This person is the only owner. Make another person an owner first.');
}

function toView(row: StaffRow): StaffView {
  const joined = row.password_hash === null ? 'invited' : 'active';
  return {
    object: 'staff',
    id: formatId('staff', row.id),
    email: row.email,
    name: row.name,
    role: row.role,
    status: row.disabled_at ? 'disabled' : joined,
    created_at: formatRfc3339(row.created_at),
    joined_at: row.joined_at && formatRfc3339(row.joined_at),
  };
}
