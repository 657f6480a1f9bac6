/** Resolves the references of a server order in one statement; deploy.ts has the next one. */
import type { Sql } from '../../kernel/sql.ts';
import type { SnapshotStatus } from '../../spec/states.ts';

export interface OrderReferences {
  readonly customerId: string;
  readonly plan: string | null;
  readonly region: string | null;
  readonly image: { readonly id: string; readonly type: 'official' | 'custom' } | null;
  /** Stored ids. */
  readonly sshKeys: readonly string[];
  /** Official images deprecated on or before this day (`YYYY-MM-DD`) no longer count. */
  readonly deprecationCutoff: string;
}

/** A snapshot that a server is ordered from, with the image of its server. */
export interface OrderedSnapshotRow {
  readonly id: string;
  readonly region_id: string;
  readonly disk_gb: number;
  readonly shared: boolean;
  /** Whether the virtual servers of its region have shared disks. */
  readonly shares_disks: boolean;
  readonly status: SnapshotStatus;
  readonly image_id: string;
  readonly image_type: 'official' | 'custom';
  readonly cloud_init: boolean;
}

/** Finds the customer's own snapshot. `isLocked`: it is not deleted until the transaction ends. */
export async function findOrderedSnapshot(
  tx: Sql,
  customerId: string,
  id: string,
  { isLocked = false }: { readonly isLocked?: boolean } = {},
): Promise<OrderedSnapshotRow | undefined> {
  return await tx.row<OrderedSnapshotRow>(
    `select n.id, n.region_id, n.disk_gb, n.shared, r.disk_storage = 'shared' as shares_disks, n.status,
            n.image_id, i.type as image_type, i.cloud_init
       from snapshots n join regions r on r.id = n.region_id join images i on i.id = n.image_id
      where n.id = $1 and n.customer_id = $2 ${isLocked ? 'for share of n' : ''}`,
    [id, customerId],
  );
}

/** Parts that were not found are null; missing keys are left out of `key_ids`. */
export interface ResolvedOrder {
  readonly plan_id: string | null;
  readonly category: 'vps' | 'dedicated';
  readonly ram_mb: number;
  readonly disk_gb: number;
  readonly host_tags: readonly string[];
  readonly price_cents_month: bigint;
  readonly backup_percent: number;
  readonly region_id: string | null;
  readonly offered: boolean;
  readonly image_id: string | null;
  readonly cloud_init: boolean;
  readonly deprecated: boolean;
  /** The smallest disk that fits the imported disk; null if none was imported. */
  readonly base_disk_gb: number | null;
  readonly key_ids: readonly string[];
  /** In the order of `key_ids`. */
  readonly public_keys: readonly string[];
}

export async function resolveOrder(tx: Sql, references: OrderReferences): Promise<ResolvedOrder> {
  const resolved = await tx.row<ResolvedOrder>(
    `select p.id as plan_id, p.category, p.ram_mb, p.disk_gb, p.host_tags, p.price_cents_month,
            p.backup_percent, r.id as region_id,
            exists (select from plan_regions o where o.plan_id = p.id and o.region_id = r.id) as offered,
            i.id as image_id, i.cloud_init, i.deprecated_at is not null as deprecated, i.base_disk_gb,
            coalesce(k.ids, '{}') as key_ids, coalesce(k.texts, '{}') as public_keys
       from (select) as one
       left join plans p on p.id = $plan and p.active
       left join regions r on r.id = $region and r.active
       left join images i on i.id = $imageId and i.type = $imageType
             and case i.type
                   when 'official' then i.active
                     and (i.deprecated_at is null or i.deprecated_at > $deprecationCutoff::date)
                   else i.customer_id = $customerId and i.deleted_at is null end
       left join lateral (select array_agg(id) as ids, array_agg(public_key) as texts
                            from ssh_keys
                           where customer_id = $customerId and id = any($sshKeys::uuid[])) as k on true`,
    { ...references, imageId: references.image?.id ?? null, imageType: references.image?.type ?? null },
  );
  if (!resolved) throw new Error('a select without a condition did not return a row');
  return resolved;
}
