/** Servers: rows with the addresses they hold. */
import type { Sql } from '../kernel/sql.ts';
import type { ServerStatus, SuspendedReason } from '../spec/states.ts';

export interface ServerRow {
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
  readonly host_id: string | null;
  readonly machine_id: string | null;
  readonly ram_mb: number;
  readonly disk_gb: number;
  readonly ssh_keys: string[];
  readonly tags: string[];
  readonly labels: Record<string, string>;
  readonly billing_months: number;
  readonly auto_renew: boolean;
  readonly price_cents_month: bigint;
  readonly price_cents_cycle: bigint;
  readonly paid_until: Date;
  readonly first_run_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly ipv4: string | null;
  readonly ipv4_gateway: string | null;
  readonly ipv6_prefix: string | null;
}

const COLUMNS = `s.id, s.public_no, s.customer_id, s.name, s.status, s.suspended_reason, s.plan_id, s.region_id,
  s.image_id, i.type as image_type, s.host_id, s.machine_id, s.ram_mb, s.disk_gb, s.ssh_keys, s.tags, s.labels,
  s.billing_months, s.auto_renew, s.price_cents_month, s.price_cents_cycle, s.paid_until, s.first_run_at,
  s.created_at, s.updated_at, host(a.addr) as ipv4, host(a.gateway) as ipv4_gateway, p.prefix::text as ipv6_prefix`;
const FROM = `servers s
  join images i on i.id = s.image_id
  left join ipv4_addresses a on a.server_id = s.id
  left join ipv6_prefixes p on p.server_id = s.id`;

export async function findServer(tx: Sql, id: string): Promise<ServerRow | undefined> {
  return await tx.row<ServerRow>(`select ${COLUMNS} from ${FROM} where s.id = $1`, [id]);
}

/** A server with the name of its region, for pages. */
export type NamedServerRow = ServerRow & { readonly region_name: string };

const NAMED = `select ${COLUMNS}, g.name as region_name from ${FROM} join regions g on g.id = s.region_id`;

export async function findServerByNo(
  tx: Sql,
  customerId: string,
  publicNo: bigint,
): Promise<NamedServerRow | undefined> {
  return await tx.row<NamedServerRow>(`${NAMED} where s.customer_id = $1 and s.public_no = $2`, [
    customerId,
    publicNo,
  ]);
}

/** The customer's servers, newest first, at most `limit`. */
export async function listServers(tx: Sql, customerId: string, limit: number): Promise<NamedServerRow[]> {
  return await tx.rows<NamedServerRow>(
    `${NAMED} where s.customer_id = $1 order by s.created_at desc, s.id desc limit $2`,
    [customerId, limit],
  );
}

/** Locks the server: the first lock in the order server, customer, host, address. */
export async function lockServer(tx: Sql, id: string): Promise<ServerRow | undefined> {
  return await tx.row<ServerRow>(`select ${COLUMNS} from ${FROM} where s.id = $1 for update of s`, [id]);
}

/** The same for the customer's own server: another's is not told apart from none. */
export async function lockOwnServer(
  tx: Sql,
  customerId: string,
  id: string,
): Promise<ServerRow | undefined> {
  return await tx.row<ServerRow>(
    `select ${COLUMNS} from ${FROM} where s.id = $1 and s.customer_id = $2 for update of s`,
    [id, customerId],
  );
}

export async function setServerStatus(
  tx: Sql,
  change: { id: string; status: ServerStatus; now: Date },
): Promise<void> {
  await tx.run(`update servers set status = $2, updated_at = $3 where id = $1`, [
    change.id,
    change.status,
    change.now,
  ]);
}

/** The install is done: its secrets go. */
export async function setServerRunning(tx: Sql, change: { id: string; now: Date }): Promise<void> {
  await tx.run(
    `update servers
        set status = 'running', first_run_at = coalesce(first_run_at, $2), updated_at = $2,
            root_password_sealed = null, user_data_sealed = null
      where id = $1`,
    [change.id, change.now],
  );
}

export async function deleteServer(tx: Sql, id: string): Promise<void> {
  await tx.run(
    `with gone as (delete from servers where id = $1 returning customer_id)
     update balances b set servers = servers - 1 from gone where b.customer_id = gone.customer_id`,
    [id],
  );
}
