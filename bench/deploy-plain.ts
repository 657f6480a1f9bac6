/**
 * The same deploy written plainly: a transaction with one statement per row. Takes the same locks, writes the
 * same rows.
 */
import type { Sql } from '../src/kernel/sql.ts';
import type { OpenDatabase } from '../src/store/db.ts';
import type { DeployRow } from '../src/store/servers/deploy.ts';

export async function deployWithPlainStatements(
  db: OpenDatabase,
  row: DeployRow,
): Promise<bigint | undefined> {
  return await db.transaction(async (tx) => {
    const balance = await debit(tx, row);
    const reservation = await reserveResources(tx, row);
    if (balance === undefined || reservation === undefined) throw new Error('the fixture is exhausted');
    await tx.run(INSERT_SERVER, { ...row, ...reservation });
    await tx.run(
      `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       values ($operation_id, $id, 'provision', 'ensure', $now, $now, $now)`,
      row,
    );
    await tx.run(INSERT_TRANSFER, { ...row, balance, fact: `cycle:${row.id}:1` });
    await tx.run(
      `insert into audit_events (id, customer_id, action, resource, actor_token, actor_session, request_id,
                                 ip_country, result, created_at)
       values ($audit_id, $customer_id, 'server.create', $resource, $actor_token, $actor_session, $request_id,
               $ip_country, 'ok', $now)`,
      row,
    );
    await insertEvent(tx, row, 'server.created', row.created_event_id, row.created_event);
    await insertEvent(tx, row, 'billing.charged', row.charged_event_id, row.charged_event);
    return balance;
  });
}

async function debit(tx: Sql, row: DeployRow): Promise<bigint | undefined> {
  const customer = await tx.row<{ frozen_at: Date | null }>(`select frozen_at from customers where id = $1`, [
    row.customer_id,
  ]);
  const offered = await tx.row(`select 1 as one from plan_regions where plan_id = $1 and region_id = $2`, [
    row.plan_id,
    row.region_id,
  ]);
  if (!offered || !customer || customer.frozen_at) return undefined;
  const debited = await tx.row<{ balance_cents: bigint }>(
    `update balances set balance_cents = balance_cents - $2, servers = servers + 1
      where customer_id = $1 and balance_cents >= $2 and servers < $3 returning balance_cents`,
    [row.customer_id, row.price_cents_cycle, row.servers_max],
  );
  return debited?.balance_cents;
}

async function reserveResources(tx: Sql, row: DeployRow): Promise<{ hostId: string } | undefined> {
  const ipv4 = await tx.row<{ address: string }>(
    `select addr::text as address from ipv4_addresses
      where region_id = $1 and server_id is null and not blocked and free_from <= $2
      order by free_from, addr limit 1 for update skip locked`,
    [row.region_id, row.now],
  );
  const ipv6 = await tx.row<{ block: string }>(
    `select prefix::text as block from ipv6_prefixes
      where region_id = $1 and server_id is null and not blocked and free_from <= $2
      order by free_from, prefix limit 1 for update skip locked`,
    [row.region_id, row.now],
  );
  const host = await tx.row<{ id: string }>(
    `select id from hosts
      where region_id = $1 and not draining
        and used_ram_mb + $2 <= ram_mb and used_disk_gb + $3 <= disk_gb
      order by (ram_mb - used_ram_mb) * random() desc limit 1`,
    [row.region_id, row.ram_mb, row.disk_gb],
  );
  if (!ipv4 || !ipv6 || !host) return undefined;
  await tx.run(`update ipv4_addresses set server_id = $1 where addr = $2::inet`, [row.id, ipv4.address]);
  await tx.run(`update ipv6_prefixes set server_id = $1 where prefix = $2::cidr`, [row.id, ipv6.block]);
  await tx.run(
    `update hosts set used_ram_mb = used_ram_mb + $2, used_disk_gb = used_disk_gb + $3
      where id = $1 and used_ram_mb + $2 <= ram_mb and used_disk_gb + $3 <= disk_gb and not draining`,
    [host.id, row.ram_mb, row.disk_gb],
  );
  return { hostId: host.id };
}

const INSERT_SERVER = `
  insert into servers (id, public_no, customer_id, name, status, plan_id, region_id, image_id, host_id,
                       ram_mb, disk_gb, ssh_keys, tags, labels, billing_months, auto_renew,
                       price_cents_month, price_cents_cycle, eur_per_usd, anchor_day, paid_until,
                       root_password_sealed, user_data_sealed, created_at, updated_at, ssh_public_keys)
  values ($id, $public_no, $customer_id, $name, 'provisioning', $plan_id, $region_id, $image_id, $hostId,
          $ram_mb, $disk_gb, $ssh_keys, $tags, $labels, $billing_months, $auto_renew,
          $price_cents_month, $price_cents_cycle, $eur_per_usd, $anchor_day, $paid_until,
          $root_password_sealed, $user_data_sealed, $now, $now, $ssh_public_keys)`;

const INSERT_TRANSFER = `
  insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, resource_kind,
                         resource_id, description, fact, balance_after_cents, created_at)
  values ($transfer_id, $customer_id, $revenue_account, $price_cents_cycle, $customer_id, 'charge', 'server',
          $id, $description, $fact, $balance, $now)`;

async function insertEvent(
  tx: Sql,
  { customer_id, now }: DeployRow,
  type: string,
  id: string,
  data: object,
): Promise<void> {
  await tx.run(`insert into events (id, customer_id, type, data, created_at) values ($1, $2, $3, $4, $5)`, [
    id,
    customer_id,
    type,
    JSON.stringify(data),
    now,
  ]);
}
