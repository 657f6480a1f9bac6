/**
 * The deploy, as one statement: select an address, a /64 and a placement; debit; assign them; write the
 * server, its charge, its audit row, its two events and its first operation. Either all of it is committed or
 * none of it.
 *
 * The parts are listed in reading order; PostgreSQL runs them as their data dependencies require:
 * - `free4`, `free6` and `machine` lock first, and skip rows locked by others: they never wait.
 * - `host` is only selected, at random, weighted by free memory, so that simultaneous deploys spread over
 *   hosts.
 * - `debit` waits for the customer's row and checks balance and quota against its latest version. This is why
 *   a balance for 7 servers buys exactly 7. Everything below depends on its row.
 * - `take_host` waits for the host's row and checks the capacity against its latest version. If the capacity
 *   was taken meanwhile, `deploy_conflict()` raises: the statement rolls back, and the caller tries again.
 *
 * So the lock order is address, /64, machine, balance, host; everywhere else it is server, balance, host,
 * address. The two cannot deadlock, because a deploy never waits for an address or a machine:
 * - The removal of a server waits only for its own addresses, which no deploy selects before they are free.
 * - `ips block` waits for addresses that a deploy has selected, and holds nothing but other addresses.
 * - A server that moves to another host locks two hosts, in either order. Two such servers may deadlock with
 *   each other; a deploy is never part of that cycle.
 * If a deadlock occurs anyway, the database aborts one transaction (40P01), which is retried: by
 * Database.transaction, and for the single statement by domain/servers/deploy/deploy.ts.
 *
 * No row back means that something was unavailable; a read afterwards names it.
 */
import type { Sql } from '../../kernel/sql.ts';

/** SQLSTATE of `deploy_conflict()`. */
export const DEPLOY_CONFLICT = 'SK001';

export interface DeployRow {
  readonly serverId: string;
  readonly publicNo: bigint;
  readonly customerId: string;
  readonly name: string;
  readonly planId: string;
  readonly regionId: string;
  readonly imageId: string;
  readonly category: 'vps' | 'dedicated';
  readonly ramMb: number;
  readonly diskGb: number;
  /**
   * The machine to assign, set up by hand and without an operation. Null: any free one, which a driver
   * installs.
   */
  readonly machineId: string | null;
  readonly sshKeys: readonly string[];
  /** The public keys, in the same order. The server keeps these copies even if the keys are deleted. */
  readonly sshPublicKeys: readonly string[];
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly billingMonths: number;
  readonly autoRenew: boolean;
  readonly priceCentsMonth: bigint;
  readonly priceCentsCycle: bigint;
  readonly eurPerUsd: string | null;
  readonly anchorDay: number;
  readonly paidUntil: Date;
  readonly rootPasswordSealed: string | null;
  readonly userDataSealed: string | null;
  readonly now: Date;
  readonly serversMax: number;
  readonly revenueAccount: string;
  readonly transferId: string;
  readonly description: string;
  readonly operationId: string;
  readonly audit: {
    readonly id: string;
    readonly resource: string;
    readonly actorToken: string | null;
    readonly actorSession: string | null;
    readonly requestId: string;
    readonly ipCountry: string;
  };
  readonly createdEvent: { readonly id: string; readonly data: object };
  /** The statement sets its `ledger_entry.balance_after_usd`, where the balance is known. */
  readonly chargedEvent: { readonly id: string; readonly data: object };
}

const DEPLOY = `
with free4 as materialized (
  select addr from ipv4_addresses
   where region_id = $6 and server_id is null and not blocked and free_from <= $22
   order by free_from, addr limit 1 for update skip locked),
free6 as materialized (
  select prefix from ipv6_prefixes
   where region_id = $6 and server_id is null and not blocked and free_from <= $22
   order by free_from, prefix limit 1 for update skip locked),
machine as materialized (
  select id from machines
   where $8 = 'dedicated' and plan_id = $5 and region_id = $6 and state = 'free' and ($40 is null or id = $40)
   order by id limit 1 for update skip locked),
host as materialized (
  select id from hosts
   where $8 = 'vps' and region_id = $6 and not draining
     and used_ram_mb + $9 <= ram_mb and used_disk_gb + $10 <= disk_gb
   order by (ram_mb - used_ram_mb) * random() desc limit 1),
place as materialized (
  select (select addr from free4) as addr, (select prefix from free6) as prefix,
         (select id from host) as host_id, (select id from machine) as machine_id
   where exists (select from free4) and exists (select from free6)
     and (exists (select from host) or exists (select from machine))
     and exists (select from plan_regions where plan_id = $5 and region_id = $6)
     and exists (select from customers where id = $3 and frozen_at is null)),
debit as (
  update balances set balance_cents = balance_cents - $17, servers = servers + 1, moved = true, debited = true
   where customer_id = $3 and balance_cents >= $17 and servers < $23 and exists (select from place)
  returning balance_cents),
take4 as (
  update ipv4_addresses set server_id = $1
   where addr = (select addr from place) and exists (select from debit)),
take6 as (
  update ipv6_prefixes set server_id = $1
   where prefix = (select prefix from place) and exists (select from debit)),
take_machine as (
  update machines set server_id = $1, state = 'sold', state_since = $22
   where id = (select machine_id from place) and exists (select from debit)
  returning id),
take_host as (
  update hosts set used_ram_mb = used_ram_mb + $9, used_disk_gb = used_disk_gb + $10
   where id = (select host_id from place) and exists (select from debit)
     and used_ram_mb + $9 <= ram_mb and used_disk_gb + $10 <= disk_gb and not draining
  returning id),
server as (
  insert into servers (id, public_no, customer_id, name, status, plan_id, region_id, image_id, host_id,
                       machine_id, ram_mb, disk_gb, ssh_keys, tags, labels, billing_months, auto_renew,
                       price_cents_month, price_cents_cycle, eur_per_usd, anchor_day, paid_until,
                       root_password_sealed, user_data_sealed, ssh_public_keys, created_at, updated_at)
  select $1, $2, $3, $4, 'provisioning', $5, $6, $7, place.host_id, place.machine_id, $9, $10, $11, $12, $13,
         $14, $15, $16, $17, $18, $19, $20, $21, $37, $39, $22, $22
    from debit, place),
operation as (
  insert into operations (id, server_id, kind, step, placed_at, due_at, created_at)
  select $26, $1, 'provision', 'ensure', $22, $22, $22 from debit where $40 is null),
transfer as (
  insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, resource_kind,
                         resource_id, description, fact, balance_after_cents, created_at)
  select $25, $3, $24, $17, $3, 'charge', 'server', $1, $27, 'cycle:' || $1 || ':1', balance_cents,
         $22 from debit),
audit as (
  insert into audit_events (id, customer_id, action, resource, actor_token, actor_session, request_id,
                            ip_country, result, created_at)
  select $28, $3, 'server.create', $29, $30, $31, $32, $38, 'ok', $22 from debit),
new_events as (
  insert into events (id, customer_id, type, data, created_at)
  select event.id, $3, event.type, event.data, $22
    from debit cross join lateral (values
      (1, $33, 'server.created', $34),
      (2, $35, 'billing.charged',
       jsonb_set($36, '{ledger_entry,balance_after_usd}', to_jsonb(round(balance_cents / 100.0, 2))))
     ) as event (nth, id, type, data)
    order by event.nth)
select balance_cents as balance_after_cents,
       case when exists (select from take_machine) or exists (select from take_host) then 0
            else deploy_conflict() end as conflict
  from debit`;

/** Runs the statement. Returns the balance after it in cents, or undefined when something was unavailable. */
export async function insertDeploy(tx: Sql, row: DeployRow): Promise<bigint | undefined> {
  const deployed = await tx.row<{ balance_after_cents: bigint }>(DEPLOY_TYPED, [
    row.serverId,
    row.publicNo,
    row.customerId,
    row.name,
    row.planId,
    row.regionId,
    row.imageId,
    row.category,
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
    row.now,
    row.serversMax,
    row.revenueAccount,
    row.transferId,
    row.operationId,
    row.description,
    row.audit.id,
    row.audit.resource,
    row.audit.actorToken,
    row.audit.actorSession,
    row.audit.requestId,
    row.createdEvent.id,
    JSON.stringify(row.createdEvent.data),
    row.chargedEvent.id,
    JSON.stringify(row.chargedEvent.data),
    row.userDataSealed,
    row.audit.ipCountry,
    row.sshPublicKeys,
    row.machineId,
  ]);
  return deployed?.balance_after_cents;
}

/**
 * The type of each parameter, in order: a parameter used in several parts must have one type in all of them.
 */
const TYPES =
  `uuid bigint uuid text text text uuid text int int uuid[] text[] jsonb int bool bigint bigint numeric int
  timestamptz text timestamptz int uuid uuid uuid text uuid text uuid uuid text uuid jsonb uuid jsonb text
  text text[] uuid`.split(/\s+/);
const DEPLOY_TYPED = DEPLOY.replace(
  /\$(\d+)/g,
  (parameter, n: string) => `${parameter}::${TYPES[Number(n) - 1]}`,
);

/** The requirements of a deploy, read after it returned no row. */
export interface DeployShortage {
  readonly frozen: boolean;
  readonly servers: number;
  readonly balance_cents: bigint;
  readonly offered: boolean;
  readonly addresses: boolean;
  readonly room: boolean;
}

export async function findDeployShortage(
  tx: Sql,
  row: Pick<
    DeployRow,
    'customerId' | 'planId' | 'regionId' | 'category' | 'ramMb' | 'diskGb' | 'now' | 'machineId'
  >,
): Promise<DeployShortage | undefined> {
  return await tx.row<DeployShortage>(
    `select c.frozen_at is not null as frozen, b.servers, b.balance_cents,
            exists (select from plan_regions where plan_id = $planId and region_id = $regionId) as offered,
            exists (select from ipv4_addresses
                     where region_id = $regionId and server_id is null and not blocked and free_from <= $now)
              and exists (select from ipv6_prefixes
                     where region_id = $regionId and server_id is null and not blocked and free_from <= $now)
              as addresses,
            case $category::text when 'vps' then
              exists (select from hosts where region_id = $regionId and not draining
                         and used_ram_mb + $ramMb <= ram_mb and used_disk_gb + $diskGb <= disk_gb)
            else
              exists (select from machines where plan_id = $planId and region_id = $regionId and state = 'free'
                         and ($machineId::uuid is null or id = $machineId))
            end as room
       from customers c join balances b on b.customer_id = c.id where c.id = $customerId`,
    row,
  );
}
