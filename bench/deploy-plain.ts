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
    await insertServer(tx, row, reservation.hostId);
    await tx.run(
      `insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
       values ($1, $2, 'provision', 'ensure', $3, $3, $3)`,
      [row.operationId, row.serverId, row.now],
    );
    await insertTransfer(tx, row, balance);
    await tx.run(
      `insert into audit_events (id, customer_id, action, resource, actor_token, actor_session, request_id,
                                 ip_country, result, created_at)
       values ($1, $2, 'server.create', $3, $4, $5, $6, $7, 'ok', $8)`,
      [
        row.audit.id,
        row.customerId,
        row.audit.resource,
        row.audit.actorToken,
        row.audit.actorSession,
        row.audit.requestId,
        row.audit.ipCountry,
        row.now,
      ],
    );
    await insertEvent(tx, row, 'server.created', row.createdEvent);
    await insertEvent(tx, row, 'billing.charged', row.chargedEvent);
    return balance;
  });
}

async function debit(tx: Sql, row: DeployRow): Promise<bigint | undefined> {
  const customer = await tx.row<{ frozen_at: Date | null }>(`select frozen_at from customers where id = $1`, [
    row.customerId,
  ]);
  const offered = await tx.row(`select 1 as one from plan_regions where plan_id = $1 and region_id = $2`, [
    row.planId,
    row.regionId,
  ]);
  if (!offered || !customer || customer.frozen_at) return undefined;
  const debited = await tx.row<{ balance_cents: bigint }>(
    `update balances set balance_cents = balance_cents - $2, servers = servers + 1
      where customer_id = $1 and balance_cents >= $2 and servers < $3 returning balance_cents`,
    [row.customerId, row.priceCentsCycle, row.serversMax],
  );
  return debited?.balance_cents;
}

async function reserveResources(tx: Sql, row: DeployRow): Promise<{ hostId: string } | undefined> {
  const ipv4 = await tx.row<{ address: string }>(
    `select addr::text as address from ipv4_addresses
      where region_id = $1 and server_id is null and not blocked and free_from <= $2
      order by free_from, addr limit 1 for update skip locked`,
    [row.regionId, row.now],
  );
  const ipv6 = await tx.row<{ block: string }>(
    `select prefix::text as block from ipv6_prefixes
      where region_id = $1 and server_id is null and not blocked and free_from <= $2
      order by free_from, prefix limit 1 for update skip locked`,
    [row.regionId, row.now],
  );
  const host = await tx.row<{ id: string }>(
    `select id from hosts
      where region_id = $1 and not draining
        and used_ram_mb + $2 <= ram_mb and used_disk_gb + $3 <= disk_gb
      order by (ram_mb - used_ram_mb) * random() desc limit 1`,
    [row.regionId, row.ramMb, row.diskGb],
  );
  if (!ipv4 || !ipv6 || !host) return undefined;
  await tx.run(`update ipv4_addresses set server_id = $1 where addr = $2::inet`, [
    row.serverId,
    ipv4.address,
  ]);
  await tx.run(`update ipv6_prefixes set server_id = $1 where prefix = $2::cidr`, [row.serverId, ipv6.block]);
  await tx.run(
    `update hosts set used_ram_mb = used_ram_mb + $2, used_disk_gb = used_disk_gb + $3
      where id = $1 and used_ram_mb + $2 <= ram_mb and used_disk_gb + $3 <= disk_gb and not draining`,
    [host.id, row.ramMb, row.diskGb],
  );
  return { hostId: host.id };
}

async function insertServer(tx: Sql, row: DeployRow, hostId: string): Promise<void> {
  await tx.run(
    `insert into servers (id, public_no, customer_id, name, status, plan_id, region_id, image_id, host_id,
                          ram_mb, disk_gb, ssh_keys, tags, labels, billing_months, auto_renew,
                          price_cents_month, price_cents_cycle, eur_per_usd, anchor_day, paid_until,
                          root_password_sealed, user_data_sealed, created_at, updated_at, ssh_public_keys)
     values ($1, $2, $3, $4, 'provisioning', $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
             $19, $20, $21, $22, $23, $23, $24)`,
    [
      row.serverId,
      row.publicNo,
      row.customerId,
      row.name,
      row.planId,
      row.regionId,
      row.imageId,
      hostId,
      row.ramMb,
      row.diskGb,
      row.sshKeys,
      row.tags,
      JSON.stringify(row.labels),
      row.billingMonths,
      row.autoRenew,
      row.priceCentsMonth,
      row.priceCentsCycle,
      row.eurPerUsd,
      row.anchorDay,
      row.paidUntil,
      row.rootPasswordSealed,
      row.userDataSealed,
      row.now,
      row.sshPublicKeys,
    ],
  );
}

async function insertTransfer(tx: Sql, row: DeployRow, balance: bigint): Promise<void> {
  await tx.run(
    `insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, resource_kind,
                            resource_id, description, fact, balance_after_cents, created_at)
     values ($1, $2, $3, $4, $2, 'charge', 'server', $5, $6, $7, $8, $9)`,
    [
      row.transferId,
      row.customerId,
      row.revenueAccount,
      row.priceCentsCycle,
      row.serverId,
      row.description,
      `cycle:${row.serverId}:1`,
      balance,
      row.now,
    ],
  );
}

async function insertEvent(
  tx: Sql,
  row: DeployRow,
  type: string,
  event: { id: string; data: object },
): Promise<void> {
  await tx.run(`insert into events (id, customer_id, type, data, created_at) values ($1, $2, $3, $4, $5)`, [
    event.id,
    row.customerId,
    type,
    JSON.stringify(event.data),
    row.now,
  ]);
}
