/** Creates an API token: in a session with the password, or with another token up to its own scope. */
import { randomBytes } from 'node:crypto';
import { fail, quotaExceeded } from '../../kernel/fail.ts';
import { base32, newId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import { digest } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { ApiToken, ApiTokenBody, NewApiToken } from '../../spec/schemas/api-token.ts';
import { isScope, type Scope, scopeCovers } from '../../spec/scopes.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import { countTokens, deleteExpiredBuckets, insertToken } from '../../store/customers/tokens.ts';
import type { CustomerActor, Service } from '../context.ts';
import { checkPassword } from '../customers/check-password.ts';
import { requireExpiry } from '../expiry.ts';
import type { SaveResponse } from '../idempotency.ts';
import { recordAudit, recordEvent } from '../record.ts';
import { tokenObject } from './object.ts';

/** A form as submitted. A missing field is an empty string. */
export interface TokenForm {
  readonly name: string;
  readonly scope: string;
  /** RFC 3339; empty: the token does not expire. */
  readonly expiresAt: string;
  readonly currentPassword: string;
}

export interface CreatedToken {
  readonly token: ApiToken;
  /** `<prefix>_live_<52 characters>`. Shown only here; the database has its digest. */
  readonly plaintext: string;
}

/** Creates a token of any scope in a session, after checking the password. */
export async function createToken(
  service: Service,
  actor: CustomerActor,
  form: TokenForm,
  saveResponse?: SaveResponse,
): Promise<CreatedToken> {
  const wanted = checkToken(service, { ...form, expiresAt: form.expiresAt === '' ? null : form.expiresAt });
  const checked = await checkPassword(service, actor, form.currentPassword);
  return await service.db.transaction(async (tx) => {
    const current = await lockCustomer(tx, actor.customerId);
    if (current?.password_hash !== checked) fail('bad_credentials');
    const created = await addToken(tx, service, actor, wanted);
    await saveResponse?.(tx, created);
    return created;
  });
}

/** Creates a token with a token, of its own or a narrower scope; fails with `forbidden_scope` otherwise. */
export async function createTokenByToken(
  service: Service,
  actor: CustomerActor & { readonly scope: Scope },
  body: ApiTokenBody,
  saveResponse?: SaveResponse,
): Promise<NewApiToken> {
  const { name, scope, expires_at: expiresAt = null } = body;
  const wanted = checkToken(service, { name, scope, expiresAt });
  if (!scopeCovers(actor.scope, wanted.scope)) {
    fail(
      'forbidden_scope',
      {},
      `A token with scope ${actor.scope} cannot create one with scope ${wanted.scope}.`,
    );
  }
  return await service.db.transaction(async (tx) => {
    await lockCustomer(tx, actor.customerId);
    const { token, plaintext } = await addToken(tx, service, actor, wanted);
    const created = { ...token, token: plaintext };
    await saveResponse?.(tx, created);
    return created;
  });
}

interface WantedToken {
  readonly name: string;
  readonly scope: Scope;
  readonly expiresAt: Date | null;
}

function checkToken(
  service: Service,
  typed: { readonly name: string; readonly scope: string; readonly expiresAt: string | null },
): WantedToken {
  const name = parseDisplayName(typed.name) ?? fail('bad_name');
  const scope = isScope(typed.scope) ? typed.scope : fail('bad_scope');
  const expiresAt = typed.expiresAt === null ? null : requireExpiry(typed.expiresAt, service.clock.now());
  return { name, scope, expiresAt };
}

/** The caller holds the customer's lock, so that the quota is exact. */
async function addToken(
  tx: Sql,
  service: Service,
  actor: CustomerActor,
  wanted: WantedToken,
): Promise<CreatedToken> {
  const now = service.clock.now();
  const { customerId } = actor;
  const { tokens: limit } = service.settings.quotas;
  if ((await countTokens(tx, customerId, limit)) >= limit) quotaExceeded('tokens', limit);
  const plaintext = `${service.settings.tokenPrefix}_live_${base32(randomBytes(32))}`;
  const row = { id: newId(now), customerId, ...wanted, digest: digest(plaintext), createdAt: now };
  const token = tokenObject(await insertToken(tx, row));
  await deleteExpiredBuckets(tx, customerId, now);
  await recordAudit(tx, { actor, action: 'token.create', resource: token.id }, now);
  await recordEvent(tx, { customerId, type: 'token.created', object: token }, now);
  return { token, plaintext };
}
