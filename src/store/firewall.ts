/** Firewall groups with their rules and servers, each read in one statement. */
import type { Sql } from '../kernel/sql.ts';
import type { PageRequest } from '../spec/lists.ts';
import type { FirewallGroup, FirewallRule } from '../spec/schemas/firewall.ts';
import type { ServerStatus, SuspendedReason } from '../spec/states.ts';
import type { Reach } from '../spec/token-limits.ts';
import { pageInside } from './customers/reach.ts';
import { countUpTo, type Page, type PageSource, readPage } from './page.ts';

/** A stored rule; `id` is the database id. */
export type RuleRow = FirewallRule;

export interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly default_action: FirewallGroup['default_action'];
  /** In the order of evaluation. */
  readonly rules: readonly RuleRow[];
  /** Server ids, in the order of attachment. */
  readonly applied_to: readonly string[];
  readonly created_at: Date;
}

const RULES = `(select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'direction', r.direction,
    'proto', r.proto, 'port', r.port, 'source', r.source, 'action', r.action, 'note', r.note)
    order by r.position), '[]') from firewall_rules r where r.group_id = g.id) as rules`;
const COLUMNS = `g.id, g.name, g.default_action, g.created_at, ${RULES},
  (select coalesce(array_agg(a.server_id order by a.place), '{}')
     from firewall_attachments a where a.group_id = g.id) as applied_to`;

export async function findGroup(tx: Sql, customerId: string, id: string): Promise<GroupRow | undefined> {
  return await tx.row<GroupRow>(
    `select ${COLUMNS} from firewall_groups g where g.customer_id = $1 and g.id = $2`,
    [customerId, id],
  );
}

/**
 * Pages through the customer's groups. The quota bounds their number, so one index serves every filter and
 * sort.
 */
export async function pageGroups(
  tx: Sql,
  customerId: string,
  page: PageRequest,
  reach?: Reach | null,
): Promise<Page<GroupRow>> {
  const source: PageSource = {
    columns: COLUMNS,
    from: 'firewall_groups g',
    where: 'g.customer_id = $customerId',
    values: { customerId },
    id: { column: 'g.id', type: 'uuid' },
    sorts: {
      created_at: { column: 'g.created_at', type: 'timestamptz' },
      name: { column: 'g.name', type: 'text' },
    },
    filters: { name: { where: 'g.name = $name' } },
  };
  return await readPage<GroupRow>(tx, pageInside(source, reach, 'firewallGroup', 'g.'), page);
}

/** Counts up to `limit`. */
export async function countGroups(tx: Sql, customerId: string, limit: number): Promise<number> {
  return await countUpTo(tx, 'firewall_groups where customer_id = $customerId', { customerId, limit });
}

/**
 * Locks the customer's group before any change to it, its rules or its servers. Returns false if it does not
 * exist.
 */
export async function lockGroup(tx: Sql, customerId: string, id: string): Promise<boolean> {
  const found = await tx.row(`select from firewall_groups where customer_id = $1 and id = $2 for update`, [
    customerId,
    id,
  ]);
  return found !== undefined;
}

export async function insertGroup(
  tx: Sql,
  row: Pick<GroupRow, 'id' | 'name' | 'default_action' | 'created_at'> & { readonly customerId: string },
): Promise<void> {
  await tx.run(
    `insert into firewall_groups (id, customer_id, name, default_action, created_at)
     values ($1, $2, $3, $4, $5)`,
    [row.id, row.customerId, row.name, row.default_action, row.created_at],
  );
}

/** Updates the group; null leaves a field unchanged. */
export async function updateGroup(
  tx: Sql,
  change: { readonly id: string; readonly name: string | null; readonly defaultAction: string | null },
): Promise<void> {
  await tx.run(
    `update firewall_groups set name = coalesce($2, name), default_action = coalesce($3, default_action)
      where id = $1`,
    [change.id, change.name, change.defaultAction],
  );
}

export async function deleteGroup(tx: Sql, id: string): Promise<void> {
  await tx.run(`delete from firewall_groups where id = $1`, [id]);
}

// ---- rules: the caller holds the group's lock

/** Appends rules in their order. */
export async function appendRules(tx: Sql, groupId: string, rules: readonly RuleRow[]): Promise<void> {
  await tx.run(
    `insert into firewall_rules (id, group_id, position, direction, proto, port, source, action, note)
     select r.id, $1, n.last + r.nth, r.direction, r.proto, r.port, r.source, r.action, r.note
       from rows from (jsonb_to_recordset($2::jsonb) as (id uuid, direction text, proto text, port text,
              source text, action text, note text)) with ordinality
              as r (id, direction, proto, port, source, action, note, nth),
            (select coalesce(max(position), 0) as last from firewall_rules where group_id = $1) as n`,
    [groupId, JSON.stringify(rules)],
  );
}

export async function deleteRules(tx: Sql, groupId: string): Promise<void> {
  await tx.run(`delete from firewall_rules where group_id = $1`, [groupId]);
}

/** Returns false when the group has no rule with this id. */
export async function deleteRule(tx: Sql, groupId: string, id: string): Promise<boolean> {
  return (await tx.run(`delete from firewall_rules where group_id = $1 and id = $2`, [groupId, id])) === 1;
}

// ---- the servers a group is applied to

export interface CandidateRow {
  readonly id: string;
  readonly status: ServerStatus;
  readonly suspended_reason: SuspendedReason | null;
  readonly category: 'vps' | 'dedicated';
}

/**
 * Locks the customer's servers that are named or attached to the group, in id order, so that they are not
 * destroyed meanwhile. Locked before the group, as everywhere.
 */
export async function lockCandidates(
  tx: Sql,
  customerId: string,
  named: readonly string[],
  groupId: string | null,
): Promise<CandidateRow[]> {
  return await tx.rows<CandidateRow>(
    `select s.id, s.status, s.suspended_reason, p.category from servers s join plans p on p.id = s.plan_id
      where s.customer_id = $1
        and (s.id = any($2::uuid[])
             or s.id in (select server_id from firewall_attachments where group_id = $3::uuid))
      order by s.id for share of s`,
    [customerId, named, groupId],
  );
}

export async function attachServers(tx: Sql, groupId: string, serverIds: readonly string[]): Promise<void> {
  await tx.run(
    `insert into firewall_attachments (server_id, group_id)
     select id, $1 from unnest($2::uuid[]) with ordinality as s (id, nth) order by nth`,
    [groupId, serverIds],
  );
}

export async function detachServers(tx: Sql, groupId: string, serverIds: readonly string[]): Promise<void> {
  await tx.run(`delete from firewall_attachments where group_id = $1 and server_id = any($2::uuid[])`, [
    groupId,
    serverIds,
  ]);
}

/** Detaches a destroyed server from all its groups. The caller holds the server's lock. */
export async function detachFromAllGroups(tx: Sql, serverId: string): Promise<void> {
  await tx.run(`delete from firewall_attachments where server_id = $1`, [serverId]);
}

export interface ServerFilterRow {
  readonly status: ServerStatus;
  readonly first_run_at: Date | null;
  /** In the order of attachment. */
  readonly groups: readonly Pick<GroupRow, 'default_action' | 'rules'>[];
}

/** Reads the groups that make up a server's filter; undefined when the server does not exist. */
export async function readServerFilter(tx: Sql, serverId: string): Promise<ServerFilterRow | undefined> {
  return await tx.row<ServerFilterRow>(
    `select s.status, s.first_run_at,
        (select coalesce(jsonb_agg(jsonb_build_object('default_action', f.default_action, 'rules', f.rules)
             order by f.place), '[]')
           from (select g.default_action, a.place, ${RULES}
                   from firewall_attachments a join firewall_groups g on g.id = a.group_id
                  where a.server_id = s.id) as f) as groups
       from servers s where s.id = $1`,
    [serverId],
  );
}
