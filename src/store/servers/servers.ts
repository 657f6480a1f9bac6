/** Servers, with their addresses. */
import type { Sql } from '../../kernel/sql.ts';
import type { BootOrder } from '../../spec/boot.ts';
import type { ServerStatus, SuspendedReason } from '../../spec/states.ts';
import { ACTION_COLUMNS, joinAction, type ShownAction } from '../actions.ts';
import { assignmentsFor } from '../parameters.ts';

export interface ServerRow extends ShownAction {
  readonly id: string;
  readonly public_no: bigint;
  readonly customer_id: string;
  readonly name: string;
  readonly status: ServerStatus;
  readonly suspended_reason: SuspendedReason | null;
  readonly plan_id: string;
  readonly region_id: string;
  readonly image_id: string;
  readonly image_type: 'official' | 'custom';
  /** A customer's image in the drive for ISO images. */
  readonly iso_image_id: string | null;
  readonly boot: BootOrder;
  readonly host_id: string | null;
  readonly machine_id: string | null;
  readonly ram_mb: number;
  readonly disk_gb: number;
  /** Its disk is on storage that the hosts of its region share. */
  readonly shared_disk: boolean;
  readonly ssh_keys: string[];
  readonly tags: string[];
  readonly labels: Record<string, string>;
  readonly protect_delete: boolean;
  readonly protect_rebuild: boolean;
  /** It was created stopped, and its system has never booted. */
  readonly never_started: boolean;
  /** Reverse DNS: address → host name. */
  readonly rdns: Record<string, string>;
  readonly billing_months: number;
  readonly auto_renew: boolean;
  readonly price_cents_month: bigint;
  /** Of the plan and the backups. */
  readonly price_cents_cycle: bigint;
  /** The part of it that is for backups. */
  readonly backup_cents_cycle: bigint;
  /** The share of the plan's price that its backups cost; null: it has none. */
  readonly backup_percent: number | null;
  readonly paid_until: Date;
  /** Its customer paid `paid_cents` from then to `paid_until`; null: the whole price, for all of it. */
  readonly paid_from: Date | null;
  readonly paid_cents: bigint | null;
  /** Since when it has its price; null: since its creation. */
  readonly priced_at: Date | null;
  /** When it was suspended, and the status that it resumes to; both null otherwise. */
  readonly suspended_at: Date | null;
  readonly resume_to: 'running' | 'stopped' | null;
  /** When a legal hold began: a held server is never destroyed. */
  readonly held_at: Date | null;
  /** When the operator froze it. */
  readonly frozen_at: Date | null;
  /** It exceeded its plan's monthly transfer, so its bandwidth is limited. */
  readonly throttled: boolean;
  readonly first_run_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly ipv4: string | null;
  readonly ipv4_gateway: string | null;
  readonly ipv6_prefix: string | null;
}

/** The columns that its REST object shows. */
export type ShownServerRow = Omit<
  ServerRow,
  | 'public_no'
  | 'customer_id'
  | 'host_id'
  | 'machine_id'
  | 'ram_mb'
  | 'shared_disk'
  | 'never_started'
  | 'price_cents_month'
  | 'backup_cents_cycle'
  | 'backup_percent'
  | 'paid_from'
  | 'paid_cents'
  | 'priced_at'
  | 'suspended_at'
  | 'resume_to'
  | 'held_at'
  | 'frozen_at'
  | 'throttled'
>;

export const SHOWN_COLUMNS = `s.id, s.name, s.status, s.suspended_reason, s.plan_id, s.region_id, s.image_id,
  i.type as image_type, s.iso_image_id, s.boot, s.disk_gb, s.ssh_keys, s.tags, s.labels, s.protect_delete,
  s.protect_rebuild, s.rdns, s.billing_months, s.auto_renew, s.price_cents_cycle, s.paid_until,
  s.first_run_at, s.created_at, s.updated_at, host(a.addr) as ipv4, host(a.gateway) as ipv4_gateway,
  p.prefix::text as ipv6_prefix,
  ${ACTION_COLUMNS}`;
export const SERVER_COLUMNS = `${SHOWN_COLUMNS}, s.public_no, s.customer_id, s.host_id, s.machine_id,
  s.ram_mb, s.shared_disk, s.never_started, s.price_cents_month, s.backup_cents_cycle, s.backup_percent,
  s.paid_from, s.paid_cents, s.priced_at, s.suspended_at, s.resume_to, s.held_at, s.frozen_at, s.throttled`;
export const SERVER_FROM = `servers s
  join images i on i.id = s.image_id
  left join ipv4_addresses a on a.server_id = s.id
  left join ipv6_prefixes p on p.server_id = s.id
  ${joinAction('s.id')}`;

export const SERVER_PRICE = 'price_cents_month, price_cents_cycle, backup_cents_cycle, backup_percent';

export async function findServer(tx: Sql, id: string): Promise<ServerRow | undefined> {
  return await tx.row<ServerRow>(`select ${SERVER_COLUMNS} from ${SERVER_FROM} where s.id = $1`, [id]);
}

/** Finds the customer's own server. Another customer's server looks like a missing one. */
export async function findOwnServer(tx: Sql, customerId: string, id: string): Promise<ServerRow | undefined> {
  return await tx.row<ServerRow>(
    `select ${SERVER_COLUMNS} from ${SERVER_FROM} where s.id = $1 and s.customer_id = $2`,
    [id, customerId],
  );
}

/** Finds the customer's own server for the most frequent request, with no column that it does not need. */
export async function findShownServer(
  tx: Sql,
  customerId: string,
  id: string,
): Promise<ShownServerRow | undefined> {
  return await tx.row<ShownServerRow>(
    `select ${SHOWN_COLUMNS} from ${SERVER_FROM} where s.id = $1 and s.customer_id = $2`,
    [id, customerId],
  );
}

/**
 * Finds a server by the integer of the session surface. Another customer's server looks like a missing one.
 */
export async function findServerIdByPublicNo(
  tx: Sql,
  customerId: string,
  publicNo: bigint,
): Promise<string | undefined> {
  const row = await tx.row<{ id: string }>(
    'select id from servers where customer_id = $1 and public_no = $2',
    [customerId, publicNo],
  );
  return row?.id;
}

/** A server with the other columns of its page. */
export interface ServerDetailRow extends ServerRow {
  readonly region_name: string;
  readonly category: 'vps' | 'dedicated';
  readonly cpu: number;
  readonly cpu_model: string;
  /** The current operation, an `OperationKind`. */
  readonly operation: string | null;
  /** When it will be destroyed unless it resumes. */
  readonly destroy_at: Date | null;
}

export async function findServerDetail(
  tx: Sql,
  customerId: string,
  id: string,
): Promise<ServerDetailRow | undefined> {
  return await tx.row<ServerDetailRow>(
    `select ${SERVER_COLUMNS}, g.name as region_name, n.category, n.cpu, n.cpu_model, s.destroy_at,
            (select o.kind from operations o where o.server_id = s.id) as operation
       from ${SERVER_FROM} join regions g on g.id = s.region_id join plans n on n.id = s.plan_id
      where s.id = $1 and s.customer_id = $2`,
    [id, customerId],
  );
}

/** Locks the server: first in the lock order server, customer, host, address. */
export async function lockServer(tx: Sql, id: string): Promise<ServerRow | undefined> {
  return await tx.row<ServerRow>(
    `select ${SERVER_COLUMNS} from ${SERVER_FROM} where s.id = $1 for update of s`,
    [id],
  );
}

/** Locks the customer's own server. Another customer's server looks like a missing one. */
export async function lockOwnServer(tx: Sql, customerId: string, id: string): Promise<ServerRow | undefined> {
  return await tx.row<ServerRow>(
    `select ${SERVER_COLUMNS} from ${SERVER_FROM} where s.id = $1 and s.customer_id = $2 for update of s`,
    [id, customerId],
  );
}

/**
 * Changes the status and clears the suspension. Only `suspended` has a reason, and its own statement in
 * billing/cycles.ts.
 */
export async function setServerStatus(
  tx: Sql,
  change: { id: string; status: Exclude<ServerStatus, 'suspended'>; now: Date },
): Promise<void> {
  await tx.run(
    `update servers
        set status = $2, updated_at = $3, suspended_reason = null, suspended_at = null, resume_to = null,
            destroy_at = null, warned_days = null, awaiting_since = null,
            bill_at = case when $2 = 'destroying' then null else bill_at end
      where id = $1`,
    [change.id, change.status, change.now],
  );
}

const CHANGEABLE =
  'name, tags, labels, protect_delete, protect_rebuild, auto_renew, suspended_reason, updated_at';

/** Writes all fields that the customer may change. */
export async function updateServer(
  tx: Sql,
  server: Pick<
    ServerRow,
    | 'id'
    | 'name'
    | 'tags'
    | 'labels'
    | 'protect_delete'
    | 'protect_rebuild'
    | 'auto_renew'
    | 'suspended_reason'
    | 'updated_at'
  >,
): Promise<void> {
  await tx.run(`update servers set ${assignmentsFor(CHANGEABLE)} where id = $id`, server);
}

export async function setServerRdns(
  tx: Sql,
  server: Pick<ServerRow, 'id' | 'rdns' | 'updated_at'>,
): Promise<void> {
  await tx.run('update servers set rdns = $rdns, updated_at = $updated_at where id = $id', server);
}

export async function deleteServer(tx: Sql, id: string): Promise<void> {
  await tx.run(
    `with deleted as (delete from servers where id = $1 returning customer_id, limited_by),
     counted as (
       update balances b set servers = servers - 1 from deleted where b.customer_id = deleted.customer_id
       returning deleted.limited_by)
     update api_tokens t set servers_count = servers_count - 1 from counted
      where counted.limited_by is not null and t.id = any(counted.limited_by)`,
    [id],
  );
}
