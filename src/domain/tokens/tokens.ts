/**
 * A customer's API tokens: created in a session with the password, or with another token up to its own
 * scope.
 */
import { randomBytes } from 'node:crypto';
import { fail, notFound, requireQuota } from '../../kernel/fail.ts';
import { base32, newId, parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import { digest } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { ApiToken, ApiTokenBody, NewApiToken } from '../../spec/schemas/api-token.ts';
import { isScope, type Scope, scopeCovers } from '../../spec/scopes.ts';
import { type CustomerRow, lockCustomer } from '../../store/customers/customers.ts';
import {
  countTokens,
  deleteExpiredBuckets,
  deleteTokenTree,
  findToken,
  insertToken,
  listTokens as listRows,
  pageTokens as pageRows,
} from '../../store/customers/tokens.ts';
import type { CustomerActor, ScopedActor, Service } from '../context.ts';
import { notifyAccountChange } from '../customers/notify-change.ts';
import { checkOwner, type OwnerProof } from '../customers/owner.ts';
import { lockChecked } from '../customers/password.ts';
import { recordAudit, recordEvent } from '../record.ts';
import { requireExpiry } from '../rules/expiry.ts';
import { recordRevocations, tokenObject } from './object.ts';

/** A form as submitted. A missing field is an empty string. */
export interface TokenForm extends OwnerProof {
  readonly name: string;
  readonly scope: string;
  /** RFC 3339; empty: the token does not expire. */
  readonly expiresAt: string;
}

export interface CreatedToken {
  readonly token: ApiToken;
  /** `<prefix>_live_<52 characters>`. Shown only here; the database has its digest. */
  readonly plaintext: string;
}

/** Creates a token of any scope in a session, after checking the password or a passkey. */
export async function createToken(
  service: Service,
  actor: CustomerActor,
  form: TokenForm,
): Promise<CreatedToken> {
  const wanted = checkToken(service, { ...form, expiresAt: form.expiresAt === '' ? null : form.expiresAt });
  const checked = await checkOwner(service, actor, form);
  const answer = await service.db.transaction(async (tx) => {
    const customer = await lockChecked(tx, actor, checked);
    const created = await addToken(tx, service, { actor, customer }, { ...wanted, createdByToken: null });
    await actor.saveResponse?.(tx, created);
    return created;
  });
  service.wake();
  return answer;
}

/**
 * Creates a token with a token, of its own or a narrower scope; fails with `forbidden_scope` otherwise. It
 * expires with its creator at the latest, and is revoked with it. Otherwise, a token for one day could make
 * one forever.
 */
export async function createTokenByToken(
  service: Service,
  actor: ScopedActor,
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
  const answer = await service.db.transaction(async (tx) => {
    const customer = (await lockCustomer(tx, actor.customerId)) ?? fail('auth_required');
    const inherited = await withCreator(tx, actor, wanted);
    const { token, plaintext } = await addToken(tx, service, { actor, customer }, inherited);
    const created = { ...token, token: plaintext };
    await actor.saveResponse?.(tx, created);
    return created;
  });
  service.wake();
  return answer;
}

/** Under the customer's lock, a creator that exists is not being revoked. */
async function withCreator(
  tx: Sql,
  { customerId, tokenId }: CustomerActor,
  wanted: WantedToken,
): Promise<NewToken> {
  if (tokenId === null) return { ...wanted, createdByToken: null };
  const creator = (await findToken(tx, customerId, tokenId)) ?? fail('auth_required');
  const latest = creator.expires_at;
  const isWithin = latest === null || (wanted.expiresAt !== null && wanted.expiresAt <= latest);
  return { ...wanted, expiresAt: isWithin ? wanted.expiresAt : latest, createdByToken: tokenId };
}

interface WantedToken {
  readonly name: string;
  readonly scope: Scope;
  readonly expiresAt: Date | null;
}

interface NewToken extends WantedToken {
  /** The token that creates it; null: a session does. */
  readonly createdByToken: string | null;
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
  { actor, customer }: { readonly actor: CustomerActor; readonly customer: CustomerRow },
  wanted: NewToken,
): Promise<CreatedToken> {
  const now = service.clock.now();
  const { customerId } = actor;
  const { tokens: limit } = service.settings.quotas;
  requireQuota('tokens', limit, await countTokens(tx, customerId, limit));
  const plaintext = `${service.settings.tokenPrefix}_live_${base32(randomBytes(32))}`;
  const row = { id: newId(now), customerId, ...wanted, digest: digest(plaintext), createdAt: now };
  const token = tokenObject(await insertToken(tx, row));
  await deleteExpiredBuckets(tx, customerId, now);
  await recordAudit(tx, { actor, action: 'token.create', resource: token.id }, now);
  await recordEvent(tx, { customerId, type: 'token.created', object: token }, now);
  const { name, scope, expiresAt, createdByToken } = wanted;
  const mailed = { name, scope, expiresAt, byToken: createdByToken !== null };
  const change = { kind: 'token_created', token: mailed, to: customer.email } as const;
  await notifyAccountChange(tx, service, actor, change, now);
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

/**
 * Revokes a token at once, with all tokens that it created. A token that revokes its creator stays: that is a
 * rotation. Unknown, malformed, and another customer's ids are `not_found`.
 */
export async function revokeToken(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const id = parseId('token', shownId) ?? notFound('token');
  await service.db.transaction(async (tx) => {
    // Creating a token takes this lock too, so no token is created while its creator is revoked.
    await lockCustomer(tx, actor.customerId);
    const { customerId, tokenId: revokedBy } = actor;
    const revoked = await deleteTokenTree(tx, { customerId, id, revokedBy });
    if (revoked.length === 0) notFound('token');
    await recordRevocations(tx, actor, revoked, service.clock.now());
  });
}
