/** The reads of `skerryd doctor`. */
import type { Sql } from '../kernel/sql.ts';

export interface ImageImportRow {
  readonly family: string;
  readonly version: string;
  readonly imported: boolean;
}

/** Lists every official image available to new servers, and whether its disk was imported. */
export async function listImageImports(tx: Sql): Promise<ImageImportRow[]> {
  return await tx.rows<ImageImportRow>(
    `select family, version, base_sha256 is not null as imported from images
      where type = 'official' and active and deprecated_at is null order by family, version`,
  );
}

/** Returns one unassigned address of each block of these regions: for IPv6, the first of a /64. */
export async function listUnusedAddresses(tx: Sql, regionIds: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ address: string | null }>(
    `select coalesce(
              (select host(min(addr)) from ipv4_addresses where block_id = b.id and server_id is null),
              (select host(min(prefix::inet)) from ipv6_prefixes where block_id = b.id and server_id is null)
            ) as address
       from ip_blocks b where region_id = any($1::text[]) order by b.block`,
    [regionIds],
  );
  return rows.flatMap(({ address }) => address ?? []);
}
