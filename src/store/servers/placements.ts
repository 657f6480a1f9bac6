/** The placement of a server: its host or machine, IPv4 address and /64. */
import type { Sql } from '../../kernel/sql.ts';
import type { MachineState } from '../../spec/states.ts';
import { endAssignments } from '../inventory/address-history.ts';
import {
  DISK_ON_HOST,
  fitsOnHost,
  hostsOfCustomer,
  loadOfHost,
  type PlacementNeeds,
  roomOnHost,
} from '../inventory/placement.ts';
import type { ServerRow } from './servers.ts';

/** The parameters from which a driver builds the machine. */
export interface BuildDetails {
  readonly hostname: string;
  /** The host's name, or the machine's own for a dedicated server. */
  readonly host: string | null;
  readonly host_id: string | null;
  readonly machine_id: string | null;
  readonly region_id: string;
  readonly cpu: number;
  readonly ram_mb: number;
  readonly disk_gb: number;
  readonly shared_disk: boolean;
  readonly image_id: string;
  readonly family: string;
  readonly version: string;
  readonly cloud_init: boolean;
  /** The file of a customer's own image; both null for an official image. */
  readonly blob_key: string | null;
  readonly sha256: string | null;
  /** The imported disk of an official image; null if none was imported. */
  readonly base_sha256: string | null;
  readonly ipv4: string;
  readonly gateway: string;
  readonly ipv6_prefix: string;
  /** The disk that it runs on. A rebuild or restore creates the next one. */
  readonly generation: number;
  /** OpenSSH public keys. */
  readonly ssh_public_keys: string[];
  readonly root_password_sealed: string | null;
  readonly user_data_sealed: string | null;
}

export async function findBuildDetails(tx: Sql, serverId: string): Promise<BuildDetails | undefined> {
  return await tx.row<BuildDetails>(
    `select s.name as hostname, coalesce(h.name, m.name) as host, s.host_id, s.machine_id, s.region_id, p.cpu,
            s.ram_mb, s.disk_gb, s.shared_disk, i.id as image_id, i.family, i.version, i.cloud_init,
            i.blob_key, i.sha256, i.base_sha256, host(a.addr) as ipv4,
            host(a.gateway) as gateway, x.prefix::text as ipv6_prefix, s.generation, s.ssh_public_keys,
            s.root_password_sealed, s.user_data_sealed
       from servers s
       join plans p on p.id = s.plan_id
       join images i on i.id = s.image_id
       join ipv4_addresses a on a.server_id = s.id
       join ipv6_prefixes x on x.server_id = s.id
       left join hosts h on h.id = s.host_id
       left join machines m on m.id = s.machine_id
      where s.id = $1`,
    [serverId],
  );
}

const MOVED: PlacementNeeds = {
  region: 's.region_id',
  ramMb: 's.ram_mb',
  diskGb: DISK_ON_HOST,
  hostTags: 'p.host_tags',
};

/** The host with the fewest of the customer's servers comes first, then the least loaded, then by room. */
export function bestForMove(needs: PlacementNeeds): string {
  const own = `cardinality(array_positions(${hostsOfCustomer('s.customer_id')}, h.id))`;
  return `${own}, ${loadOfHost('h.id')}, ${roomOnHost(needs, 'used')} desc, h.id`;
}

/**
 * Moves a server's reservation to another host of its region, also into its reserve; undefined when none has
 * capacity.
 */
export async function reserveOtherHost(
  tx: Sql,
  server: { id: string; excludedHosts: readonly string[] },
): Promise<string | undefined> {
  const row = await tx.row<{ id: string }>(
    `with host as materialized (
       select h.id, s.ram_mb, ${DISK_ON_HOST} as disk_gb
         from servers s join plans p on p.id = s.plan_id join hosts h on ${fitsOnHost(MOVED, 'used')}
        where s.id = $1 and h.id <> all ($2::uuid[])
        order by ${bestForMove(MOVED)} limit 1 for update of h)
     , taken as (
       update hosts h set used_ram_mb = h.used_ram_mb + host.ram_mb,
                          used_disk_gb = h.used_disk_gb + host.disk_gb
         from host where h.id = host.id returning h.id)
     update servers s set host_id = taken.id from taken where s.id = $1 returning taken.id`,
    [server.id, server.excludedHosts],
  );
  return row?.id;
}

/**
 * Reserves capacity for a server that moves, next to that on its present host; undefined when no other
 * host of its region has it. `diskGb` includes the volumes that move with it.
 */
export async function reserveMoveTarget(
  tx: Sql,
  server: {
    readonly id: string;
    readonly diskGb: number;
    readonly excludedHosts: readonly string[];
    /** Null: any host. */
    readonly onlyHost: string | null;
    /** Leaves out hosts of the same backend, between which its driver does not move. */
    readonly otherBackend: boolean;
  },
): Promise<string | undefined> {
  const needs = { ...MOVED, diskGb: '$2::int' };
  const row = await tx.row<{ id: string }>(
    `with host as materialized (
       select h.id, s.ram_mb
         from servers s join plans p on p.id = s.plan_id join hosts own on own.id = s.host_id
         join hosts h on ${fitsOnHost(needs, 'used')}
        where s.id = $1 and h.id <> s.host_id and h.id <> all ($3::uuid[])
          and ($4::uuid is null or h.id = $4) and (not $5 or h.backend is distinct from own.backend)
        order by ${bestForMove(needs)} limit 1 for update of h)
     update hosts h set used_ram_mb = h.used_ram_mb + host.ram_mb, used_disk_gb = h.used_disk_gb + $2::int
       from host where h.id = host.id returning h.id`,
    [server.id, server.diskGb, server.excludedHosts, server.onlyHost, server.otherBackend],
  );
  return row?.id;
}

/** Moves a server's reservation off its host. Returns false, without a change, if no other host has room. */
export async function moveReservation(
  tx: Sql,
  server: Pick<ServerRow, 'id' | 'host_id'>,
  excludedHosts: readonly string[],
): Promise<boolean> {
  if ((await reserveOtherHost(tx, { id: server.id, excludedHosts })) === undefined) return false;
  await tx.run(
    `update hosts h set used_ram_mb = h.used_ram_mb - s.ram_mb,
                        used_disk_gb = h.used_disk_gb - ${DISK_ON_HOST}
       from servers s where s.id = $1 and h.id = $2`,
    [server.id, server.host_id],
  );
  return true;
}

/** An IPv4 address and a /64. */
export interface FreeAddresses {
  readonly addr: string;
  readonly prefix: string;
}

/** Locks a free address and a /64 of the region, without waiting; undefined if one is missing. */
export async function findFreeAddresses(
  tx: Sql,
  regionId: string,
  now: Date,
): Promise<FreeAddresses | undefined> {
  const free = 'region_id = $1 and server_id is null and not blocked and free_from <= $2';
  return await tx.row<FreeAddresses>(
    `with four as materialized (
       select addr from ipv4_addresses where ${free} order by free_from, addr limit 1
         for update skip locked),
     six as materialized (
       select prefix from ipv6_prefixes where ${free} order by free_from, prefix limit 1
         for update skip locked)
     select host(addr) as addr, prefix::text as prefix from four, six`,
    [regionId, now],
  );
}

/** Assigns locked addresses to a server that has none. */
export async function assignAddresses(
  tx: Sql,
  serverId: string,
  free: FreeAddresses,
  now: Date,
): Promise<void> {
  await tx.run(
    `with four as (update ipv4_addresses set server_id = $1 where addr = $2::inet),
     history as (
       insert into address_assignments (address, server_id, customer_id, assigned_at)
       select address, id, customer_id, $4
         from servers, unnest(array[$2::cidr, $3::cidr]) as address where id = $1)
     update ipv6_prefixes set server_id = $1 where prefix = $3::cidr`,
    [serverId, free.addr, free.prefix, now],
  );
}

/** Assigns another machine of the same plan and region; undefined when none is free. */
export async function reserveOtherMachine(
  tx: Sql,
  server: { id: string; planId: string; regionId: string; excludedMachines: readonly string[]; now: Date },
): Promise<string | undefined> {
  const row = await tx.row<{ id: string }>(
    `with machine as materialized (
       select id from machines
        where plan_id = $2 and region_id = $3 and state = 'free' and id <> all ($4::uuid[])
        order by id limit 1 for update skip locked)
     , taken as (
       update machines m set server_id = $1, state = 'sold', state_since = $5
         from machine where m.id = machine.id returning m.id)
     update servers s set machine_id = taken.id from taken where s.id = $1 returning taken.id`,
    [server.id, server.planId, server.regionId, server.excludedMachines, server.now],
  );
  return row?.id;
}

/** Releases the server's capacity on its host, or its machine, which is set to the given state. */
export async function releaseHost(
  tx: Sql,
  serverId: string,
  machine: { readonly state: MachineState; readonly now: Date },
): Promise<void> {
  await tx.run(
    `with freed as (
       update hosts h set used_ram_mb = h.used_ram_mb - s.ram_mb,
                          used_disk_gb = h.used_disk_gb - ${DISK_ON_HOST}
         from servers s where s.id = $1 and h.id = s.host_id),
     unbound as (
       update machines set server_id = null, state = $2, state_since = $3, off_since = null
         where server_id = $1)
     update servers set host_id = null, machine_id = null where id = $1`,
    [serverId, machine.state, machine.now],
  );
}

/**
 * Releases the server's addresses. They stay reserved until `freeFrom` before another server can have them,
 * or until the lost host `heldBy` is fenced, which may still use them.
 */
export async function releaseAddresses(
  tx: Sql,
  serverId: string,
  release: { readonly freeFrom: Date; readonly heldBy: string | null; readonly now: Date },
): Promise<void> {
  const released = `server_id = null, held_by = $3,
    free_from = case when $3::uuid is null then $2 else 'infinity'::timestamptz end`;
  await tx.run(
    `with four as (update ipv4_addresses set ${released} where server_id = $1),
     history as (${endAssignments('server_id = $1 and $3::uuid is null', '$4::timestamptz')})
     update ipv6_prefixes set ${released} where server_id = $1`,
    [serverId, release.freeFrom, release.heldBy, release.now],
  );
}
