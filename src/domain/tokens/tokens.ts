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
import type { TokenLimitsBody } from '../../spec/schemas/token-limits.ts';
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
  type TokenRow,
} from '../../store/customers/tokens.ts';
import type { CustomerActor, ScopedActor, Service } from '../context.ts';
import { notifyAccountChange } from '../customers/notify-change.ts';
import { readQuotas } from '../customers/own-limits.ts';
import { checkOwner, type OwnerProof } from '../customers/owner.ts';
import { lockChecked } from '../customers/password.ts';
import { recordAudit, recordEvent } from '../record.ts';
import { requireExpiry } from '../rules/expiry.ts';
import { inheritedFrom, requireKnown } from './limits/change.ts';
import {
  budgetColumns,
  type Inherited,
  limitColumns,
  NO_TERMS,
  NOTHING_INHERITED,
  readTerms,
  requireWithin,
  type Terms,
  termsOf,
} from './limits/terms.ts';
import { recordRevocations, tokenObject } from './object.ts';

/** A form as submitted. A missing field is an empty string. */
export interface TokenForm extends OwnerProof {
  readonly name: string;
  readonly scope: string;
  /** RFC 3339; empty: the token does not expire. */
  readonly expiresAt: string;
  readonly limits?: TokenLimitsBody;
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
    const made = { ...wanted, createdByToken: null, inherited: NOTHING_INHERITED };
    const created = await addToken(tx, service, { actor, customer }, made);
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
  const { name, scope, expires_at: expiresAt = null, limits } = body;
  const wanted = checkToken(service, { name, scope, expiresAt, limits: limits ?? {} });
  if (!scopeCovers(actor.scope, wanted.scope)) {
    fail(
      'forbidden_scope',
      {},
      `A token with scope ${actor.scope} cannot create one with scope ${wanted.scope}.`,
    );
  }
  const answer = await service.db.transaction(async (tx) => {
    const customer = (await lockCustomer(tx, actor.customerId)) ?? fail('auth_required');
    const made = await withCreator(tx, service, actor, wanted);
    const { token, plaintext } = await addToken(tx, service, { actor, customer }, made);
    const created = { ...token, token: plaintext };
    await actor.saveResponse?.(tx, created);
    return created;
  });
  service.wake();
  return answer;
}

/** Under the customer's lock, a creator that exists is not being revoked, and its limits do not change. */
async function withCreator(
  tx: Sql,
  { keys }: Service,
  { customerId, tokenId }: CustomerActor,
  wanted: WantedToken,
): Promise<NewToken> {
  if (tokenId === null) return { ...wanted, createdByToken: null, inherited: NOTHING_INHERITED };
  const creator = (await findToken(tx, customerId, tokenId)) ?? fail('auth_required');
  const latest = creator.expires_at;
  const isWithin = latest === null || (wanted.expiresAt !== null && wanted.expiresAt <= latest);
  const outer = termsOf(keys, creator);
  // Both add up, so that a copied one would widen the other. The creator's apply in any case.
  const selects = wanted.terms.resources !== undefined || wanted.terms.labels !== undefined;
  const inherited = selects ? { ...outer, resources: null, labels: null } : outer;
  const terms = { ...inherited, ...wanted.terms };
  requireWithin(outer, terms);
  return {
    ...wanted,
    terms,
    expiresAt: isWithin ? wanted.expiresAt : latest,
    createdByToken: tokenId,
    inherited: inheritedFrom(keys, creator),
  };
}

interface WantedToken {
  readonly name: string;
  readonly scope: Scope;
  readonly expiresAt: Date | null;
  /** The limits that the request has; its creator's apply to all others. */
  readonly terms: Partial<Terms>;
}

interface NewToken extends WantedToken {
  readonly inherited: Inherited;
  /** The token that creates it; null: a session does. */
  readonly createdByToken: string | null;
}

function checkToken(
  service: Service,
  typed: Pick<TokenForm, 'name' | 'scope' | 'limits'> & { readonly expiresAt: string | null },
): WantedToken {
  const name = parseDisplayName(typed.name) ?? fail('bad_name');
  const scope = isScope(typed.scope) ? typed.scope : fail('bad_scope');
  const expiresAt = typed.expiresAt === null ? null : requireExpiry(typed.expiresAt, service.clock.now());
  return { name, scope, expiresAt, terms: readTerms(typed.limits ?? {}) };
}

/** The caller holds the customer's lock, so that the quota is exact. */
async function addToken(
  tx: Sql,
  service: Service,
  { actor, customer }: { readonly actor: CustomerActor; readonly customer: CustomerRow },
  { terms: wantedTerms, inherited, ...wanted }: NewToken,
): Promise<CreatedToken> {
  const now = service.clock.now();
  const { customerId } = actor;
  const { tokens: limit } = await readQuotas(service, tx, customerId);
  requireQuota('tokens', limit, await countTokens(tx, customerId, limit));
  const plaintext = `${service.settings.tokenPrefix}_live_${base32(randomBytes(32))}`;
  await requireKnown(tx, actor, wantedTerms);
  const id = newId(now);
  const terms = { ...NO_TERMS, ...wantedTerms };
  const limits = { ...limitColumns(service.keys, id, terms, inherited), ...budgetColumns(terms) };
  const row = { id, customerId, ...wanted, ...limits, digest: digest(plaintext), createdAt: now };
  const inserted = await insertToken(tx, row);
  const token = tokenObject(inserted, { now, keys: service.keys });
  await deleteExpiredBuckets(tx, customerId, now);
  await recordAudit(tx, { actor, action: 'token.create', resource: token.id }, now);
  await recordEvent(tx, { customerId, type: 'token.created', object: tokenObject(inserted, { now }) }, now);
  const { name, scope, expiresAt, createdByToken } = wanted;
  const mailed = { name, scope, expiresAt, byToken: createdByToken !== null };
  const change = { kind: 'token_created', token: mailed, to: customer.email } as const;
  await notifyAccountChange(tx, service, actor, change, now);
  return { token, plaintext };
}

/** Returns all tokens of the customer, newest first. The quota bounds their number. */
export async function listTokens(service: Service, actor: CustomerActor): Promise<ApiToken[]> {
  return (await listRows(service.db, actor.customerId)).map((row) => shownToken(service, row));
}

function shownToken({ clock, keys }: Service, row: TokenRow): ApiToken {
  return tokenObject(row, { now: clock.now(), keys });
}

/** Returns a token by its public id. Unknown, malformed, and another customer's ids are `not_found`. */
export async function getToken(service: Service, actor: CustomerActor, shownId: string): Promise<ApiToken> {
  const id = parseId('token', shownId) ?? notFound('token');
  return shownToken(service, (await findToken(service.db, actor.customerId, id)) ?? notFound('token'));
}

/** Returns one page of tokens. */
export async function pageTokens(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<ApiToken>> {
  const maker = actor.limits?.reach ? (actor.tokenId ?? undefined) : undefined;
  const { rows, next } = await pageRows(service.db, actor.customerId, page, maker);
  return { items: rows.map((row) => shownToken(service, row)), next };
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
