/**
 * The deploy, as one statement: select an address, a /64 and a placement; debit; assign them; write the
 * server, its charge, its audit row, its two events, its first operation with its action, and the response
 * for its idempotency key. Either all of it is committed or none of it.
 *
 * One record goes in, a DeployRow: `$name` is its property. A new column of servers is added to that type,
 * where `prepareDeploy` must set it, and to SERVER, which writes it. The parts are listed in reading order;
 * PostgreSQL runs them as their data dependencies require:
 * - `free4`, `free6` and `machine` lock first, and skip rows locked by others: they never wait.
 * - `host` is only selected, and at random, so that simultaneous deploys spread over hosts: of a few hosts,
 *   drawn by how much room they have, the one with the fewest of the customer's latest servers, and of these
 *   the least loaded.
 * - `debit` waits for the customer's row and checks balance and quota against its latest version. This is why
 *   a balance for 7 servers buys exactly 7. Everything below depends on its row.
 * - `take_host` waits for the host's row and checks the capacity against its latest version. If the capacity
 *   was taken meanwhile, `deploy_conflict()` raises: the statement rolls back, and the caller tries again.
 * - `response` waits for a request with the same key. If that one was stored, `key_taken()` raises.
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
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import { ownLimitOr } from '../customers/own-limits.ts';
import type { ResponseRow } from '../idempotency.ts';
import {
  fitsOnHost,
  hostsOfCustomer,
  loadOfHost,
  type PlacementNeeds,
  roomOnHost,
} from '../inventory/placement.ts';
import { nextBooking } from '../ledger/ledger.ts';
import { parametersFor } from '../parameters.ts';
import {
  LIMITED,
  type LimitParts,
  type ResponseParts,
  UNLIMITED,
  WITH_RESPONSE,
  WITHOUT_RESPONSE,
} from './deploy-parts.ts';
import { SERVER_PRICE, type ServerRow } from './servers.ts';

/** SQLSTATE of `deploy_conflict()`. */
export const DEPLOY_CONFLICT = 'SK001';

/** The server, under the names of its columns, and what is written with it. */
export interface DeployRow
  extends Pick<
    ServerRow,
    | 'id'
    | 'public_no'
    | 'customer_id'
    | 'name'
    | 'plan_id'
    | 'region_id'
    | 'image_id'
    | 'ram_mb'
    | 'disk_gb'
    | 'ssh_keys'
    | 'tags'
    | 'labels'
    | 'protect_delete'
    | 'protect_rebuild'
    | 'never_started'
    | 'billing_months'
    | 'auto_renew'
    | 'price_cents_month'
    | 'price_cents_cycle'
    | 'backup_cents_cycle'
    | 'backup_percent'
    | 'paid_until'
  > {
  /** The public keys of `ssh_keys`, in that order. The server keeps them even if the keys are deleted. */
  readonly ssh_public_keys: readonly string[];
  readonly eur_per_usd: string | null;
  readonly anchor_day: number;
  readonly root_password_sealed: string | null;
  readonly user_data_sealed: string | null;
  readonly category: 'vps' | 'dedicated';
  /** Tags that the plan asks of hosts. */
  readonly host_tags: readonly string[];
  /**
   * The machine to assign, set up by hand and without an operation. Null: any free one, which a driver
   * installs.
   */
  readonly machine_id: string | null;
  /** The snapshot to install from; null: the image. */
  readonly snapshot_id: string | null;
  /** Volumes that the server gets. Those on other hosts need room on its own. */
  readonly volume_ids: readonly string[];
  /** The backend that has the data of a volume; null: any. */
  readonly only_backend: string | null;
  readonly now: Date;
  readonly servers_max: number;
  /** The limited tokens that it counts for; null: an unlimited token or a session orders it. */
  readonly limit_chain: readonly string[] | null;
  readonly revenue_account: string;
  readonly transfer_id: string;
  readonly description: string;
  /** Also the id of its action. */
  readonly operation_id: string;
  readonly action_steps: readonly string[];
  /** When those began that have. */
  readonly action_step_times: readonly Date[];
  readonly action_progress: number | null;
  readonly audit_id: string;
  readonly resource: string;
  readonly actor_token: string | null;
  readonly actor_session: string | null;
  readonly request_id: string;
  readonly ip_country: string;
  readonly created_event_id: string;
  readonly created_event: object;
  readonly charged_event_id: string;
  /** The statement sets its `ledger_entry.balance_after_usd`, where the balance is known. */
  readonly charged_event: object;
}

/** The columns of the server that the record has. */
const SERVER = `id, public_no, customer_id, name, plan_id, region_id, image_id, ram_mb, disk_gb, ssh_keys,
  ssh_public_keys, tags, labels, protect_delete, protect_rebuild, never_started, billing_months,
  auto_renew, ${SERVER_PRICE}, eur_per_usd, anchor_day, paid_until, root_password_sealed, user_data_sealed`;

/** Whether the server has a shared disk, read once. A dedicated machine has its own disk. */
export const STORAGE = `storage as materialized (
  select $category::text = 'vps'
         and exists (select from regions where id = $region_id and disk_storage = 'shared') as shared)`;
const HAS_SHARED_DISK = '(select shared from storage)';

const NEEDS: PlacementNeeds = {
  region: '$region_id',
  ramMb: '$ram_mb',
  diskGb: `(case when ${HAS_SHARED_DISK} then 0 else $disk_gb::int end)`,
  hostTags: '$host_tags::text[]',
};

/** Room that its volumes need on a host `h` besides. */
const VOLUMES_GB = `(case when cardinality($volume_ids::uuid[]) = 0 then 0 else
  (select coalesce(sum(v.size_gb), 0)::int from volumes v
    where v.id = any ($volume_ids::uuid[]) and not v.shared and v.host_id is distinct from h.id) end)`;

/** Condition: a host `h` has room for the server and its volumes, and may have the volumes. Needs STORAGE. */
export const FITS = `(${fitsOnHost({ ...NEEDS, diskGb: `(${NEEDS.diskGb} + ${VOLUMES_GB})` }, 'kept')}
  and ($only_backend::text is null or coalesce(h.backend, '${LOCAL_BACKEND}') = $only_backend))`;

/** Hosts that are drawn, so that the cost of spreading does not grow with the region. */
const DRAWN_HOSTS = 8;

const deployStatement = (limit: LimitParts, response: ResponseParts) => `
with ${STORAGE},
free4 as materialized (
  select addr from ipv4_addresses
   where region_id = $region_id and server_id is null and not blocked and free_from <= $now
   order by free_from, addr limit 1 for update skip locked),
free6 as materialized (
  select prefix from ipv6_prefixes
   where region_id = $region_id and server_id is null and not blocked and free_from <= $now
   order by free_from, prefix limit 1 for update skip locked),
machine as materialized (
  select id from machines
   where $category = 'dedicated' and plan_id = $plan_id and region_id = $region_id and state = 'free'
     and ($machine_id::uuid is null or id = $machine_id)
   order by id limit 1 for update skip locked),
host as materialized (
  select id from (
    select h.id, ${roomOnHost(NEEDS, 'kept')} * random() as chance from hosts h
     where $category = 'vps' and ${FITS}
     order by chance desc limit ${DRAWN_HOSTS}) as drawn
   order by cardinality(array_positions(${hostsOfCustomer('$customer_id')}, id)),
            ${loadOfHost('drawn.id')}, chance desc limit 1),
place as materialized (
  select (select addr from free4) as addr, (select prefix from free6) as prefix,
         (select id from host) as host_id, (select id from machine) as machine_id
   where exists (select from free4) and exists (select from free6)
     and (exists (select from host) or exists (select from machine))
     and exists (select from plan_regions where plan_id = $plan_id and region_id = $region_id)
     and exists (select from customers where id = $customer_id and frozen_at is null)
     ${limit.place}),
debit as (
  update balances
     set balance_cents = balance_cents - $price_cents_cycle, servers = servers + 1, moved = true,
         debited = true, booked_at = ${nextBooking('$now')}
   where customer_id = $customer_id and balance_cents >= $price_cents_cycle 
     and servers < ${ownLimitOr('servers', '$servers_max')}
     and exists (select from place)
  returning balance_cents, booked_at),
take4 as (
  update ipv4_addresses set server_id = $id
   where addr = (select addr from place) and exists (select from debit)),
take6 as (
  update ipv6_prefixes set server_id = $id
   where prefix = (select prefix from place) and exists (select from debit)),
address_history as (
  insert into address_assignments (address, server_id, customer_id, assigned_at)
  select address, $id, $customer_id, $now
    from debit, place, unnest(array[place.addr::cidr, place.prefix]) as address),
take_machine as (
  update machines set server_id = $id, state = 'sold', state_since = $now
   where id = (select machine_id from place) and exists (select from debit)
  returning id),
take_host as (
  update hosts h set used_ram_mb = used_ram_mb + $ram_mb, used_disk_gb = used_disk_gb + ${NEEDS.diskGb}
   where id = (select host_id from place) and exists (select from debit) and ${FITS}
  returning id),
server as (
  insert into servers (${SERVER}, ${limit.columns}shared_disk, status, host_id, machine_id, created_at,
                       updated_at)
  select ${parametersFor(SERVER)}, ${limit.values}${HAS_SHARED_DISK}, 'provisioning', place.host_id,
         place.machine_id, $now, $now
    from debit, place),
${limit.count}
${response.store}
operation as (
  insert into operations (id, server_id, kind, step, action_id, snapshot_id, placed_at, due_at, created_at)
  select $operation_id, $id, 'provision', 'ensure', $operation_id, $snapshot_id::uuid, $now, $now, $now
    from debit
   where $machine_id::uuid is null),
action as (
  insert into actions (id, customer_id, command, resource_kind, resource_id, server_id, steps, step_times,
                       progress, request_id, created_at)
  select $operation_id, $customer_id, 'server.create', 'server', $id, $id, $action_steps::text[],
         $action_step_times::timestamptz[], $action_progress, $request_id, $now
    from debit where $machine_id::uuid is null),
transfer as (
  insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, resource_kind,
                         resource_id, description, fact, balance_after_cents, created_at,
                         booked_at)
  select $transfer_id, $customer_id, $revenue_account, $price_cents_cycle, $customer_id, 'charge', 'server',
         $id, $description, 'cycle:' || $id || ':1', balance_cents, $now, booked_at from debit),
audit as (
  insert into audit_events (id, customer_id, action, resource, actor_token, actor_session, request_id,
                            ip_country, result, created_at)
  select $audit_id, $customer_id, 'server.create', $resource, $actor_token, $actor_session, $request_id,
         $ip_country, 'ok', $now from debit),
new_events as (
  insert into events (id, customer_id, type, data, created_at)
  select event.id, $customer_id, event.type, event.data, $now
    from debit cross join lateral (values
      (1, $created_event_id::uuid, 'server.created', $created_event::jsonb),
      (2, $charged_event_id, 'billing.charged',
       jsonb_set($charged_event, '{ledger_entry,balance_after_usd}',
                 to_jsonb(round(balance_cents / 100.0, 2))))
     ) as event (nth, id, type, data)
    order by event.nth)
select balance_cents as balance_after_cents,
       case when ${response.isTaken} then key_taken()
            when (exists (select from take_machine) or exists (select from take_host))
                 and ${limit.isCounted} then 0
            else deploy_conflict() end as conflict
  from debit`;

const DEPLOY = {
  unlimited: deployStatement(UNLIMITED, WITHOUT_RESPONSE),
  unlimitedWithResponse: deployStatement(UNLIMITED, WITH_RESPONSE),
  limited: deployStatement(LIMITED, WITHOUT_RESPONSE),
  limitedWithResponse: deployStatement(LIMITED, WITH_RESPONSE),
} as const;

/**
 * Runs the statement. Returns the balance after it in cents, or undefined when something was unavailable.
 * Throws KEY_TAKEN if another request has the key of the response.
 */
export async function insertDeploy(
  tx: Sql,
  row: DeployRow,
  response?: ResponseRow,
): Promise<bigint | undefined> {
  const limited = row.limit_chain ? 'limited' : 'unlimited';
  const deployed = await tx.row<{ balance_after_cents: bigint }>(
    DEPLOY[response ? (`${limited}WithResponse` as const) : limited],
    // The server's moment is also that of its response.
    response ? { ...response, ...row } : row,
  );
  return deployed?.balance_after_cents;
}
