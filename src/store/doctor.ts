/** What `skerryd doctor` asks. */
import type { Sql } from '../kernel/sql.ts';

export interface ImageImportRow {
  readonly family: string;
  readonly version: string;
  readonly imported: boolean;
}

/** Every official image that new servers may have, and whether its disk was imported. */
export async function listImageImports(tx: Sql): Promise<ImageImportRow[]> {
  return await tx.rows<ImageImportRow>(
    `select family, version, base_sha256 is not null as imported from images
      where type = 'official' and active and deprecated_at is null order by family, version`,
  );
}

/** Of each block of these regions one address that no server has: of IPv6 the first of a /64. */
export async function listUnusedAddresses(tx: Sql, regionIds: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ address: string | null }>(
    `select coalesce(
              (select host(min(addr)) from ipv4_addresses where block_id = b.id and server_id is null),
              (select host(min(prefix::inet)) from ipv6_prefixes where block_id = b.id and server_id is null)) as address
       from ip_blocks b where region_id = any($1::text[]) order by b.block`,
    [regionIds],
  );
  return rows.flatMap(({ address }) => address ?? []);
}
