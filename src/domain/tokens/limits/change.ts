/** Narrows the limits of a token, and with them those of the tokens that it created. */
import { fail, notFound } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import { parseDisplayName } from '../../../kernel/printable.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { ApiToken, ApiTokenPatch } from '../../../spec/schemas/api-token.ts';
import { findRegion } from '../../../store/catalogue/catalogue.ts';
import { lockCustomer } from '../../../store/customers/customers.ts';
import { coveredKindOf, findInside } from '../../../store/customers/reach.ts';
import { writeBudget, writeLimits } from '../../../store/customers/token-limits.ts';
import { findToken, findTokenTree, renameToken, type TokenRow } from '../../../store/customers/tokens.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit, recordEvent } from '../../record.ts';
import { tokenObject } from '../object.ts';
import { openNetworks, reachOf } from './active.ts';
import {
  budgetColumns,
  type Inherited,
  limitColumns,
  NOTHING_INHERITED,
  readTerms,
  requireNarrower,
  type Terms,
  termsOf,
  throwUnknownResource,
} from './terms.ts';

/** Renames a token or narrows its limits. Refuses with `not_found`, `not_allowed`, `unknown_reference`. */
export async function updateToken(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  { name: newName, limits }: ApiTokenPatch,
): Promise<ApiToken> {
  const id = parseId('token', shownId) ?? notFound('token');
  const name = newName === undefined ? undefined : (parseDisplayName(newName) ?? fail('bad_name'));
  const wanted = readTerms(limits ?? {});
  const { customerId } = actor;
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    // Creating a token takes this lock too, so no token is created with limits that are being narrowed.
    await lockCustomer(tx, customerId);
    const tree = await findTokenTree(tx, customerId, id);
    const token = tree[0] ?? notFound('token');
    if (name !== undefined) await renameToken(tx, id, name);
    if (Object.keys(wanted).length > 0) {
      const before = termsOf(service.keys, token);
      const after = { ...before, ...wanted };
      requireNarrower(before, after);
      // Of narrowed lists, every item is known already, even if it was deleted since.
      const isNew = (name: 'resources' | 'regions') => before[name] === null;
      await requireKnown(tx, actor, {
        resources: isNew('resources') ? after.resources : null,
        regions: isNew('regions') ? after.regions : null,
      });
      await writeBudget(tx, id, budgetColumns(after));
      await writeTree(tx, service, tree, after);
    }
    const row = (await findToken(tx, customerId, id)) ?? notFound('token');
    await recordAudit(tx, { actor, action: 'token.update', resource: shownId }, now);
    await recordEvent(tx, { customerId, type: 'token.updated', object: tokenObject(row, { now }) }, now);
    return tokenObject(row, { now, keys: service.keys });
  });
}

/** Refuses resources and regions that do not exist for the caller. The caller locked the customer. */
export async function requireKnown(
  tx: Sql,
  { customerId, tokenId, limits }: CustomerActor,
  { resources, regions }: Partial<Terms>,
): Promise<void> {
  for (const [index, region] of (regions ?? []).entries()) {
    if (await findRegion(tx, region)) continue;
    const field = `limits.regions.${index}`;
    fail('unknown_reference', { field }, `${field}: this region is not available.`);
  }
  if (!resources) return;
  const named = resources.map((shown, index) => {
    const kind = coveredKindOf(shown) ?? throwUnknownResource(index);
    return parseId(kind, shown) ?? throwUnknownResource(index);
  });
  const viewer = {
    customerId,
    tokenId: tokenId ?? customerId,
    reach: limits?.reach ?? { clauses: [], regions: null },
  };
  const known = await findInside(tx, viewer, named);
  // The prefix is part of the id.
  const found = new Set(known.map(({ kind, id }) => formatId(kind, id)));
  const missing = resources.findIndex((shown) => !found.has(shown));
  if (missing >= 0) throwUnknownResource(missing);
}

/** Writes the token's terms into the limits of each token of its tree. */
async function writeTree(
  tx: Sql,
  { keys }: Service,
  tree: readonly TokenRow[],
  changed: Terms,
): Promise<void> {
  const written = new Map<string, Inherited>();
  for (const [index, row] of tree.entries()) {
    const terms = index === 0 ? changed : termsOf(keys, row);
    const inherited = index === 0 ? inheritedBy(keys, row) : written.get(row.created_by_token ?? '');
    const columns = limitColumns(keys, row.id, terms, inherited ?? NOTHING_INHERITED);
    const networks = openNetworks(keys, row.id, columns.ip_cidrs_sealed);
    written.set(row.id, { ...columns, networks });
    await writeLimits(tx, { id: row.id, ...columns, reach: reachOf(columns.limits ?? []) });
  }
}

/** The limits of the tokens that made this one, without its own. */
function inheritedBy(
  keys: Service['keys'],
  { id, limit_chain, limits, ip_cidrs_sealed }: TokenRow,
): Inherited {
  if (!limits || !limit_chain || limits.length < 2) return NOTHING_INHERITED;
  const networks = openNetworks(keys, id, ip_cidrs_sealed)?.slice(0, -1) ?? null;
  return { limit_chain: limit_chain.slice(0, -1), limits: limits.slice(0, -1), networks };
}

/** The limits that a token passes on to those that it creates. */
export function inheritedFrom(keys: Service['keys'], maker: TokenRow): Inherited {
  const { limit_chain, limits, ip_cidrs_sealed } = maker;
  return { limit_chain, limits, networks: openNetworks(keys, maker.id, ip_cidrs_sealed) };
}
