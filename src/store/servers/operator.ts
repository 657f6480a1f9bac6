/** All customers' servers as the operator sees and controls them: freezes and legal holds. */
import type { Sql } from '../../kernel/sql.ts';
import type { ServerStatus, SuspendedReason } from '../../spec/states.ts';
import { conditionsFor } from '../parameters.ts';
import type { OperationKind, OperationStep } from './operations.ts';

export interface OperatorServerRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly status: ServerStatus;
  readonly suspended_reason: SuspendedReason | null;
  readonly plan_id: string;
  readonly region_id: string;
  /** Its host or machine; null once released. */
  readonly host: string | null;
  readonly ipv4: string | null;
  readonly ipv6_prefix: string | null;
  readonly billing_months: number;
  readonly auto_renew: boolean;
  readonly price_cents_cycle: bigint;
  readonly paid_until: Date;
  readonly created_at: Date;
  readonly frozen_at: Date | null;
  readonly freeze_reason: string | null;
  readonly hold_order: string | null;
  readonly throttled: boolean;
  readonly mail_allowed: boolean;
  /** Its packets are dropped until then. */
  readonly blackhole_until: Date | null;
  /** Outbound traffic since `sent_since`, counted against `transfer_tb`; null: nothing was counted yet. */
  readonly sent_bytes: bigint | null;
  readonly sent_since: Date | null;
  readonly transfer_tb: string;
  /** The current operation; all null when there is none. */
  readonly operation: OperationKind | null;
  readonly step: OperationStep | null;
  readonly begun_at: Date | null;
  readonly attempts: number | null;
  readonly last_fault: string | null;
}

const COLUMNS = `s.id, c.email, s.name, s.status, s.suspended_reason, s.plan_id, s.region_id,
  coalesce(h.name, m.name) as host, host(a.addr) as ipv4, p.prefix::text as ipv6_prefix, s.billing_months,
  s.auto_renew, s.price_cents_cycle, s.paid_until, s.created_at, s.frozen_at, s.freeze_reason, s.hold_order,
  s.throttled, s.mail_allowed, t.bytes as sent_bytes, t.month::timestamp at time zone 'UTC' as sent_since,
  n.transfer_tb, b.until as blackhole_until,
  o.kind as operation, o.step, o.created_at as begun_at, o.attempts, o.last_fault`;
const FROM = `servers s
  join customers c on c.id = s.customer_id
  join plans n on n.id = s.plan_id
  left join blackholes b on b.server_id = s.id
  left join transfers_out t on t.server_id = s.id
  left join hosts h on h.id = s.host_id
  left join machines m on m.id = s.machine_id
  left join ipv4_addresses a on a.server_id = s.id
  left join ipv6_prefixes p on p.server_id = s.id
  left join operations o on o.server_id = s.id`;

/** Omitted fields match everything. */
export interface OperatorServerFilter {
  readonly id?: string;
  readonly customerId?: string;
  readonly status?: ServerStatus;
  readonly regionId?: string;
  readonly planId?: string;
  readonly hostId?: string;
  /** Labels that it has, as JSON. */
  readonly labels?: string;
  /** The beginning of its name, or its plan, region, or host. */
  readonly named?: { readonly pattern: string; readonly text: string };
  readonly frozen?: true;
  readonly held?: true;
  /** Only older servers than this one. */
  readonly beforeId?: string;
}

const CONDITIONS = {
  id: 's.id = $id',
  customerId: 's.customer_id = $customerId',
  status: 's.status = $status',
  regionId: 's.region_id = $regionId',
  planId: 's.plan_id = $planId',
  hostId: 's.host_id = $hostId',
  // The condition of the index.
  labels: "s.labels @> $labels::jsonb and s.labels <> '{}'",
  named: `(s.name like $pattern or s.plan_id = $text or s.region_id = $text
           or s.host_id = (select id from hosts where name = $text))`,
  frozen: 's.frozen_at is not null',
  held: 's.hold_order is not null',
  beforeId: 's.id < $beforeId',
};

/**
 * Lists servers newest first: ids begin with the time. Only the given conditions are in the SQL, so it plans
 * well. Every number is above 0: the condition of the indexes for staff.
 */
export async function listOperatorServers(
  tx: Sql,
  filter: OperatorServerFilter,
  limit: number,
): Promise<OperatorServerRow[]> {
  return await tx.rows<OperatorServerRow>(
    `select ${COLUMNS} from ${FROM} where s.public_no > 0 and ${conditionsFor(filter, CONDITIONS)}
      order by s.id desc limit $limit`,
    { ...filter, ...filter.named, limit },
  );
}

export async function findOperatorServer(tx: Sql, id: string): Promise<OperatorServerRow | undefined> {
  return await tx.row<OperatorServerRow>(`select ${COLUMNS} from ${FROM} where s.id = $1`, [id]);
}

/** Finds the server that currently has this IPv4 or IPv6 address. */
export async function findServerIdByAddress(tx: Sql, address: string): Promise<string | undefined> {
  const row = await tx.row<{ server_id: string }>(
    address.includes(':')
      ? `select server_id from ipv6_prefixes
          where prefix = network(set_masklen($1::inet, 64)) and server_id is not null`
      : 'select server_id from ipv4_addresses where addr = $1::inet and server_id is not null',
    [address],
  );
  return row?.server_id;
}

export interface ServerControls {
  /** When it was frozen, and why; both null when it is not frozen. */
  readonly frozen_at: Date | null;
  readonly freeze_reason: string | null;
  /** When the legal hold began, and its order; both null without a hold. */
  readonly held_at: Date | null;
  readonly hold_order: string | null;
}

export async function findServerControls(tx: Sql, id: string): Promise<ServerControls | undefined> {
  return await tx.row<ServerControls>(
    'select frozen_at, freeze_reason, held_at, hold_order from servers where id = $1',
    [id],
  );
}

/** The caller holds the server's lock. */
export async function setServerControls(tx: Sql, id: string, controls: ServerControls): Promise<void> {
  await tx.run(
    'update servers set frozen_at = $2, freeze_reason = $3, held_at = $4, hold_order = $5 where id = $1',
    [id, controls.frozen_at, controls.freeze_reason, controls.held_at, controls.hold_order],
  );
}
