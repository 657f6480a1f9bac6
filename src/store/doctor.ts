/** What `skerryd doctor` asks. */
import type { Sql } from '../kernel/sql.ts';

export interface ImportRow {
  readonly family: string;
  readonly version: string;
  readonly imported: boolean;
}

/** Every official image that new servers may have, and whether its disk was imported. */
export async function listImports(tx: Sql): Promise<ImportRow[]> {
  return await tx.rows<ImportRow>(
    `select family, version, base_sha256 is not null as imported from images
      where type = 'official' and active and deprecated_at is null order by family, version`,
  );
}
