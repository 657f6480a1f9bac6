/** Regions, plans and images. Rows are never deleted: an item that is no longer offered is not `active`. */
import type { Sql } from '../../kernel/sql.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

export interface RegionRow {
  readonly id: string;
  /** The region's code on the session surface. */
  readonly session_code: string;
  readonly name: string;
  readonly country: string;
  readonly pop_id: string;
  readonly tor_onion: string | null;
  /** Where new volumes are: on the disk of a host, or on storage that the region's hosts share. */
  readonly volume_storage: 'local' | 'shared';
  /** Where the disks of new servers are, in the same way. */
  readonly disk_storage: 'local' | 'shared';
  readonly active: boolean;
}

export interface PlanRow {
  readonly id: string;
  readonly category: 'vps' | 'dedicated';
  readonly cpu: number;
  readonly cpu_model: string;
  readonly ram_mb: number;
  readonly disk_gb: number;
  /** Decimal text with two decimals. */
  readonly transfer_tb: string;
  readonly price_cents_month: bigint;
  /** The share of the price that backups cost; 0: they are free. */
  readonly backup_percent: number;
  /** Its servers run on hosts that have all of these tags. Sorted. */
  readonly host_tags: readonly string[];
  readonly active: boolean;
  /** Ids of the regions that offer it, in order. */
  readonly regions: readonly string[];
}

export interface ImageRow {
  readonly id: string;
  readonly family: string;
  readonly version: string;
  readonly variant: string | null;
  readonly arch: readonly string[];
  /** Decimal text with two decimals. */
  readonly size_gb: string;
  readonly cloud_init: boolean;
  /** `YYYY-MM-DD`, like `deprecated_at`. */
  readonly released_at: string;
  readonly deprecated_at: string | null;
  readonly active: boolean;
}

export interface InstallableImageRow extends ImageRow {
  /** The smallest disk that fits the imported disk; null if none was imported. */
  readonly base_disk_gb: number | null;
}

// An update that assigns a key locks its row against deploys, even if the key stays the same.
const REGION_VALUES = 'name, country, pop_id, tor_onion, volume_storage, disk_storage, active';
const REGION = `id, session_code, ${REGION_VALUES}`;
const PLAN_VALUES = `category, cpu, cpu_model, ram_mb, disk_gb, transfer_tb, price_cents_month,
  backup_percent, host_tags, active`;
const PLAN_COLUMNS = `id, ${PLAN_VALUES}`;
const PLAN = `${PLAN_COLUMNS},
  array(select region_id from plan_regions r where r.plan_id = p.id order by region_id) as regions`;
const IMAGE = 'id, family, version, variant, arch, size_gb, cloud_init, released_at, deprecated_at, active';

/** Waits until no other process loads a catalog. Reads and deploys continue. */
export async function lockCatalogue(tx: Sql): Promise<void> {
  await tx.run('lock table regions in share row exclusive mode');
}

/** Lists every region, including retired ones. */
export async function listRegions(tx: Sql): Promise<RegionRow[]> {
  return await tx.rows<RegionRow>(`select ${REGION} from regions order by id`);
}

/** Returns the names of regions and the ids of plans, including retired ones: servers may still use them. */
export async function catalogueNames(
  tx: Sql,
): Promise<{ readonly regions: Readonly<Record<string, string>>; readonly plans: readonly string[] }> {
  const row = await tx.row<{ regions: Record<string, string> | null; plans: string[] }>(
    `select (select jsonb_object_agg(id, name) from regions) as regions,
            array(select id from plans order by id) as plans`,
  );
  return { regions: row?.regions ?? {}, plans: row?.plans ?? [] };
}

/** Lists every plan, including retired ones. */
export async function listPlans(tx: Sql): Promise<PlanRow[]> {
  return await tx.rows<PlanRow>(`select ${PLAN} from plans p order by p.id`);
}

/** Lists every official image, including retired ones. */
export async function listOfficialImages(tx: Sql): Promise<ImageRow[]> {
  return await tx.rows<ImageRow>(
    `select ${IMAGE} from images where type = 'official' order by family, released_at, version, variant`,
  );
}

/** Finds an active region by its code on the REST surface. */
export async function findRegion(tx: Sql, id: string): Promise<RegionRow | undefined> {
  return await tx.row<RegionRow>(`select ${REGION} from regions where id = $1 and active`, [id]);
}

/** Finds an active region by its code on the session surface. */
export async function findRegionBySessionCode(tx: Sql, code: string): Promise<RegionRow | undefined> {
  return await tx.row<RegionRow>(`select ${REGION} from regions where session_code = $1 and active`, [code]);
}

/** Finds a plan that is sold. */
export async function findPlan(tx: Sql, id: string): Promise<PlanRow | undefined> {
  return await tx.row<PlanRow>(`select ${PLAN} from plans p where p.id = $1 and p.active`, [id]);
}

/**
 * Finds the official image that may be installed under this id or name: `debian-12`, `debian12`, or `debian`
 * for the newest. A version matches with and without its dots. Names are lower case. `imported` requires an
 * imported disk.
 */
export async function findInstallableImage(
  tx: Sql,
  wanted: { readonly id: string | null; readonly name: string; readonly imported: boolean },
): Promise<InstallableImageRow | undefined> {
  return await tx.row<InstallableImageRow>(
    `select ${IMAGE}, base_disk_gb from images
      where type = 'official' and active and deprecated_at is null and (base_sha256 is not null or not $3)
        and (id = $1::uuid
             or $2 in (family, family || '-' || version, family || version,
                       family || '-' || replace(version, '.', ''), family || replace(version, '.', '')))
      order by released_at desc, variant nulls first limit 1`,
    [wanted.id, wanted.name, wanted.imported],
  );
}

/** Returns the plan's monthly price in cents, sold or retired. */
export async function findPlanPrice(tx: Sql, id: string): Promise<bigint | undefined> {
  const row = await tx.row<{ price_cents_month: bigint }>(
    'select price_cents_month from plans where id = $1',
    [id],
  );
  return row?.price_cents_month;
}

/** The price of new orders. */
export async function updatePlanPrice(tx: Sql, id: string, cents: bigint): Promise<void> {
  await tx.run('update plans set price_cents_month = $2 where id = $1', [id, cents]);
}

export async function saveRegion(tx: Sql, row: RegionRow): Promise<void> {
  await tx.run(
    `insert into regions (${REGION}) values (${parametersFor(REGION)})
     on conflict (id) do update set ${assignmentsFor(REGION_VALUES)}`,
    row,
  );
  // A key too, because it is unique.
  await tx.run(
    'update regions set session_code = $session_code where id = $id and session_code <> $session_code',
    row,
  );
}

export async function savePlan(tx: Sql, row: PlanRow): Promise<void> {
  await tx.run(
    `insert into plans (${PLAN_COLUMNS}) values (${parametersFor(PLAN_COLUMNS)})
     on conflict (id) do update set ${assignmentsFor(PLAN_VALUES)}`,
    row,
  );
  await tx.run('delete from plan_regions where plan_id = $id and region_id <> all ($regions::text[])', row);
  await tx.run(
    `insert into plan_regions (plan_id, region_id) select $1, unnest($2::text[]) on conflict do nothing`,
    [row.id, row.regions],
  );
}

export async function saveOfficialImage(tx: Sql, row: ImageRow): Promise<void> {
  await tx.run(
    `insert into images (${IMAGE}, type) values (${parametersFor(IMAGE)}, 'official')
     on conflict (id) do update
       set ${assignmentsFor('arch, size_gb, cloud_init, released_at, deprecated_at, active')}`,
    row,
  );
}

/** Counts the servers of this plan. */
export async function countServersOfPlan(tx: Sql, planId: string): Promise<bigint> {
  const row = await tx.row<{ count: bigint }>('select count(*) as count from servers where plan_id = $1', [
    planId,
  ]);
  return row?.count ?? 0n;
}

const USED_BY = { regions: 'region_id', plans: 'plan_id', images: 'image_id' } as const;

/** Counts the servers that have a plan or an image, or are in a region, and their customers. */
export async function countUsers(
  tx: Sql,
  { kind, id }: { readonly kind: keyof typeof USED_BY; readonly id: string },
): Promise<{ readonly servers: bigint; readonly customers: bigint }> {
  const row = await tx.row<{ servers: bigint; customers: bigint }>(
    `select coalesce(sum(servers), 0)::bigint as servers, count(*) as customers
       from (select count(*) as servers from servers
              where ${USED_BY[kind]} = $1 and public_no > 0 and status <> 'destroying' group by customer_id) as users`,
    [id],
  );
  return row ?? { servers: 0n, customers: 0n };
}
