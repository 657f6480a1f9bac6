/** Reads firewall groups, and identifies the contents of their lists. */
import { fail, notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { digest } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { FirewallGroup, FirewallRule } from '../../spec/schemas/firewall.ts';
import { findInside } from '../../store/customers/reach.ts';
import { findGroup, type GroupRow, pageGroups, type RuleRow } from '../../store/firewall.ts';
import type { CustomerActor, Service } from '../context.ts';
import { refuseByLimit } from '../tokens/limits/active.ts';

/** Returns a group by its public id. Unknown, malformed, and another customer's ids are `not_found`. */
export async function getGroup(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<FirewallGroup> {
  const id = parseId('firewallGroup', shownId) ?? notFound('firewallGroup');
  const row = (await findGroup(service.db, actor.customerId, id)) ?? notFound('firewallGroup');
  return shownGroup(row, await hiddenServers(service.db, actor, row.applied_to));
}

export async function listGroups(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<FirewallGroup>> {
  const { rows, next } = await pageGroups(service.db, actor.customerId, page, actor.limits?.reach);
  const hidden = await hiddenServers(
    service.db,
    actor,
    rows.flatMap((row) => row.applied_to),
  );
  return { items: rows.map((row) => shownGroup(row, hidden)), next };
}

/** Returns a group without the servers that a limited token cannot reach. */
export function shownGroup(row: GroupRow, hidden: readonly string[]): FirewallGroup {
  return groupObject({ ...row, applied_to: without(row.applied_to, hidden) });
}

/** Returns those of the servers that a limited token cannot reach, in their order. */
export async function hiddenServers(
  sql: Sql,
  { customerId, tokenId, limits }: CustomerActor,
  servers: readonly string[],
): Promise<readonly string[]> {
  const reach = limits?.reach;
  if (!reach || tokenId === null || servers.length === 0) return [];
  const inside = await findInside(sql, { customerId, tokenId, reach }, servers);
  return without(
    servers,
    inside.map(({ id }) => id),
  );
}

/**
 * Refuses a change of the filter of servers that a token limited to regions cannot reach. A token with other
 * limits reaches a group only by its name.
 */
export async function requireWholeGroup(sql: Sql, actor: CustomerActor, group: GroupRow): Promise<void> {
  if (actor.limits?.reach?.clauses.length !== 0) return;
  if ((await hiddenServers(sql, actor, group.applied_to)).length > 0)
    refuseByLimit('limits.regions', 'The group is also applied to servers that this token cannot reach.');
}

function without(ids: readonly string[], removed: readonly string[]): readonly string[] {
  return removed.length === 0 ? ids : ids.filter((id) => !removed.includes(id));
}

/** Returns a group in the REST shape. */
export function groupObject(row: GroupRow): FirewallGroup {
  return {
    id: formatId('firewallGroup', row.id),
    object: 'firewall_group',
    name: row.name,
    applied_to: row.applied_to.map((id) => formatId('server', id)),
    rules: row.rules.map(ruleObject),
    default_action: row.default_action,
    created_at: formatRfc3339(row.created_at),
  };
}

export function ruleObject(row: RuleRow): FirewallRule {
  return { ...row, id: formatId('firewallRule', row.id) };
}

/*
 * ETags of lists that are replaced as a whole, so that a client cannot overwrite a change that it has not
 * seen.
 */
type GroupContents = Pick<FirewallGroup, 'applied_to' | 'rules'>;

/** Identifies the current list of servers. */
export function serversEtag({ applied_to }: GroupContents): string {
  return etagOf(applied_to);
}

/** Identifies the current rules. A changed rule has a new id. */
export function rulesEtag({ rules }: GroupContents): string {
  return etagOf(rules.map(({ id }) => id));
}

function etagOf(ids: readonly string[]): string {
  return digest(ids.join('\n')).toString('base64url');
}

/** Fails with `conflict_state` if the list has changed. The caller holds the group's lock. */
export function requireUnchanged(expectedEtag: string | undefined, currentEtag: string): void {
  if (expectedEtag === undefined || expectedEtag === currentEtag) return;
  fail(
    'conflict_state',
    { field: 'seen' },
    'The group has changed since you opened it. Review it and try again.',
  );
}
