/** The audit log: written in the transaction of each change, and read by its customer and by the operator. */
import type { Sql } from '../kernel/sql.ts';
import { parseRfc3339 } from '../kernel/time.ts';
import type { PageRequest } from '../spec/lists.ts';
import { BY_CREATION, type Page, readPage } from './page.ts';
import { conditionsFor } from './parameters.ts';

export interface AuditRow {
  readonly id: string;
  readonly customerId: string | null;
  readonly action: string;
  readonly resource: string | null;
  readonly actorToken: string | null;
  readonly actorSession: string | null;
  readonly requestId: string;
  readonly ipCountry: string;
  readonly result: 'ok' | 'error' | 'denied';
  readonly note: string | null;
  readonly createdAt: Date;
}

export async function insertAudit(tx: Sql, row: AuditRow): Promise<void> {
  await tx.run(
    `insert into audit_events
       (id, customer_id, action, resource, actor_token, actor_session, request_id, ip_country, result, note,
        created_at)
     values ($id, $customerId, $action, $resource, $actorToken, $actorSession, $requestId, $ipCountry,
             $result, $note, $createdAt)`,
    row,
  );
}

/** An audit event as its customer reads it. */
export interface AuditEventRow {
  readonly id: string;
  readonly action: string;
  readonly resource: string | null;
  readonly actor_token: string | null;
  readonly actor_session: string | null;
  readonly request_id: string;
  readonly ip_country: string;
  readonly result: 'ok' | 'error' | 'denied';
  readonly created_at: Date;
}

const COLUMNS =
  'id, action, resource, actor_token, actor_session, request_id, ip_country, result, created_at';

/** Returns undefined when the customer has no event with this id, or only one from before `since`. */
export async function findAuditEvent(
  tx: Sql,
  customerId: string,
  id: string,
  since: Date,
  reach?: AuditReach,
): Promise<AuditEventRow | undefined> {
  return await tx.row<AuditEventRow>(
    `select ${COLUMNS} from audit_events
      where id = $id and customer_id = $customerId and created_at >= $since
            ${reach ? `and ${IN_REACH}` : ''}`,
    { id, customerId, since, ...reach },
  );
}

/** The events that a limited token can read: those of resources, and those of tokens. */
export interface AuditReach {
  /** Public ids. */
  readonly resources: readonly string[];
  readonly tokens: readonly string[];
}

const IN_REACH = '(resource = any($resources::text[]) or actor_token = any($tokens::uuid[]))';

/**
 * Pages through events since `since`. Filters: `action`, `resource`, and times `from` (inclusive), `to`
 * (exclusive).
 */
export async function pageAuditEvents(
  tx: Sql,
  customerId: string,
  since: Date,
  page: PageRequest,
  reach?: AuditReach,
): Promise<Page<AuditEventRow>> {
  return await readPage<AuditEventRow>(
    tx,
    {
      columns: COLUMNS,
      from: 'audit_events',
      where: reach ? `customer_id = $customerId and ${IN_REACH}` : 'customer_id = $customerId',
      values: { customerId, ...reach },
      since,
      sorts: BY_CREATION,
      filters: {
        action: { where: 'action = $action', indexed: true },
        resource: { where: 'resource = $resource', indexed: true },
        from: { bound: 'from', value: parseRfc3339 },
        to: { bound: 'to', value: parseRfc3339 },
      },
    },
    page,
  );
}

// ---- the log of all customers, the operator and the service itself, as the operator reads it

export interface OperatorAuditRow extends AuditEventRow {
  /** null: not a customer's event, or their account was deleted. */
  readonly email: string | null;
  readonly note: string | null;
}

/** Omitted fields match everything. */
export interface OperatorAuditFilter {
  readonly customerId?: string;
  readonly action?: string;
  readonly resource?: string;
  /** Only events without a token or session: those of the operator or the service itself. */
  readonly unattributed?: true;
  /** Only older events than this one. */
  readonly beforeId?: string;
}

const CONDITIONS = {
  customerId: 'e.customer_id = $customerId',
  action: 'e.action = $action',
  resource: 'e.resource = $resource',
  unattributed: 'e.actor_token is null and e.actor_session is null',
  beforeId: 'e.id < $beforeId',
};

/** Lists events newest first: ids begin with the time. */
export async function listOperatorAudit(
  tx: Sql,
  filter: OperatorAuditFilter,
  limit: number,
): Promise<OperatorAuditRow[]> {
  return await tx.rows<OperatorAuditRow>(
    `select e.id, c.email, e.action, e.resource, e.result, e.actor_token, e.actor_session, e.ip_country,
            e.request_id, e.note, e.created_at
       from audit_events e left join customers c on c.id = e.customer_id
      where ${conditionsFor(filter, CONDITIONS)} order by e.id desc limit $limit`,
    { ...filter, limit },
  );
}

/** Whether the action was recorded for the customer's resource since then. */
export async function wasAudited(
  tx: Sql,
  entry: {
    readonly customerId: string;
    readonly resource: string;
    readonly action: string;
    readonly since: Date;
  },
): Promise<boolean> {
  const found = await tx.row(
    `select from audit_events
      where customer_id = $customerId and resource = $resource and action = $action and created_at >= $since
      limit 1`,
    entry,
  );
  return found !== undefined;
}
