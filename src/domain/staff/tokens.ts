/** API tokens of staff, for /admin/v1. A token has a role: that of the person, or a lower one. */
import { fail, invalidRequest } from '../../kernel/fail.ts';
import { formatId, newId, newSecretToken, parseId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import { DAY_MS, formatRfc3339 } from '../../kernel/time.ts';
import { STAFF_LIMITS, type StaffRole } from '../../spec/staff/roles.ts';
import {
  deleteStaffToken,
  insertStaffToken,
  listStaffTokens as listRows,
  type StaffTokenRow,
} from '../../store/staff/access.ts';
import { lockStaff } from '../../store/staff/staff.ts';
import type { Service } from '../context.ts';
import type { StaffActor } from './context.ts';
import { requireRole } from './people.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'settings'>;

/** Whom a token is for. */
type TokenOwner = Pick<StaffActor, 'staffId' | 'role'>;

const TOKEN_BYTES = 32;

export interface StaffTokenView {
  readonly object: 'staff_token';
  readonly id: string;
  readonly name: string;
  readonly role: StaffRole;
  readonly created_at: string;
  readonly expires_at: string;
  readonly last_used_at: string | null;
}

/** Fails with `invalid_request`, `forbidden_scope`, `limit_reached`. The token is shown only here. */
export async function createStaffToken(
  service: Deps,
  actor: TokenOwner,
  order: { readonly name: string; readonly role?: string; readonly expires_at?: string | null },
): Promise<StaffTokenView & { readonly token: string }> {
  const name = order.name.trim();
  const max = STAFF_LIMITS.nameMaxChars;
  if (name === '' || /\p{C}/u.test(name)) invalidRequest([{ field: 'name', issue: 'required' }]);
  if ([...name].length > max) invalidRequest([{ field: 'name', issue: 'max_length', max }]);
  const role = requireTokenRole(actor, order.role);
  const now = service.clock.now();
  const expiresAt = readExpiry(order.expires_at ?? null, now);
  const token = `${service.settings.tokenPrefix}_staff_${newSecretToken(TOKEN_BYTES)}`;
  const id = newId(now);
  await service.db.transaction(async (tx) => {
    await lockStaff(tx, actor.staffId);
    const limit = STAFF_LIMITS.tokensMax;
    if ((await listRows(tx, actor.staffId)).length >= limit) {
      fail('limit_reached', { limit }, `You have ${limit} API tokens, which is the limit. Revoke one first.`);
    }
    await insertStaffToken(tx, {
      id,
      staffId: actor.staffId,
      name,
      digest: digest(token),
      role,
      expiresAt,
      now,
    });
  });
  const row = { id, name, role, created_at: now, expires_at: expiresAt, last_used_at: null };
  return { ...toView(row), token };
}

/** The role of a new token: the person's own unless given. Fails with `forbidden_scope`. */
export function requireTokenRole(actor: Pick<TokenOwner, 'role'>, text: string = actor.role): StaffRole {
  const role = requireRole(text);
  if (actor.role === 'owner' || role === actor.role || role === 'read_only') return role;
  return fail('forbidden_scope', { field: 'role' }, 'A token can have your own role or Read-only.');
}

function readExpiry(text: string | null, now: Date): Date {
  const latest = new Date(now.getTime() + STAFF_LIMITS.tokenMaxDays * DAY_MS);
  if (text === null || text === '') return latest;
  const time = new Date(text);
  if (time > now && time <= latest) return time;
  const message = `Enter a time within the next ${STAFF_LIMITS.tokenMaxDays} days.`;
  return invalidRequest([{ field: 'expires_at', issue: 'invalid_value' }], message);
}

/** Newest first. */
export async function listStaffTokens({ db }: Deps, { staffId }: TokenOwner): Promise<StaffTokenView[]> {
  return (await listRows(db, staffId)).map(toView);
}

/** Fails with `not_found`. */
export async function revokeStaffToken(
  { db }: Deps,
  { staffId }: TokenOwner,
  shownId: string,
): Promise<void> {
  const id = parseId('staffToken', shownId);
  if (!id || !(await deleteStaffToken(db, staffId, id))) fail('not_found', {}, 'API token not found.');
}

function toView(row: StaffTokenRow): StaffTokenView {
  return {
    object: 'staff_token',
    id: formatId('staffToken', row.id),
    name: row.name,
    role: row.role,
    created_at: formatRfc3339(row.created_at),
    expires_at: formatRfc3339(row.expires_at),
    last_used_at: row.last_used_at && formatRfc3339(row.last_used_at),
  };
}
