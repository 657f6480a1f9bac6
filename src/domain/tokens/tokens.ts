/**
 * A customer's API tokens: created in a session with the password, or with another token up to its own
 * scope.
 */
import { randomBytes } from 'node:crypto';
import { fail, notFound, quotaExceeded } from '../../kernel/fail.ts';
import { base32, formatId, newId, parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import { digest } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { ApiToken, ApiTokenBody, NewApiToken } from '../../spec/schemas/api-token.ts';
import { isScope, type Scope, scopeCovers } from '../../spec/scopes.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import {
  countTokens,
  deleteExpiredBuckets,
  deleteToken,
  insertToken,
  listTokens as listRows,
  pageTokens as pageRows,
  type TokenRow,
} from '../../store/customers/tokens.ts';
import type { CustomerActor, Service } from '../context.ts';
import { checkPassword, lockChecked } from '../customers/password.ts';
import { requireExpiry } from '../expiry.ts';
import { recordAudit, recordEvent } from '../record.ts';

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
): Promise<CreatedToken> {
  const wanted = checkToken(service, { ...form, expiresAt: form.expiresAt === '' ? null : form.expiresAt });
  const checked = await checkPassword(service, actor, form.currentPassword);
  return await service.db.transaction(async (tx) => {
    await lockChecked(tx, actor, checked);
    const created = await addToken(tx, service, actor, wanted);
    await actor.saveResponse?.(tx, created);
    return created;
  });
}

/** Creates a token with a token, of its own or a narrower scope; fails with `forbidden_scope` otherwise. */
export async function createTokenByToken(
  service: Service,
  actor: CustomerActor & { readonly scope: Scope },
  body: ApiTokenBody,
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
    await actor.saveResponse?.(tx, created);
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

/** Returns all tokens of the customer, newest first. The quota bounds their number. */
export async function listTokens(service: Service, actor: CustomerActor): Promise<ApiToken[]> {
  return (await listRows(service.db, actor.customerId)).map(tokenObject);
}

/** Returns one page of tokens. */
export async function pageTokens(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<ApiToken>> {
  const { rows, next } = await pageRows(service.db, actor.customerId, page);
  return { items: rows.map(tokenObject), next };
}

/** Revokes a token at once. Unknown, malformed, and another customer's ids are `not_found`. */
export async function revokeToken(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const id = parseId('token', shownId) ?? notFound('token');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const row = (await deleteToken(tx, actor.customerId, id)) ?? notFound('token');
    await recordAudit(tx, { actor, action: 'token.revoke', resource: tokenObject(row).id }, now);
    await recordEvent(
      tx,
      { customerId: actor.customerId, type: 'token.revoked', object: tokenObject(row) },
      now,
    );
  });
}

/** Returns a token in the REST shape, without its plaintext. */
export function tokenObject(row: TokenRow): ApiToken {
  return {
    id: formatId('token', row.id),
    object: 'api_token',
    name: row.name,
    scope: row.scope,
    last_used_at: row.last_used_at && formatRfc3339(row.last_used_at),
    expires_at: row.expires_at && formatRfc3339(row.expires_at),
    created_at: formatRfc3339(row.created_at),
  };
}
