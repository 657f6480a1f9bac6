/** The imported disks that official images are installed from. */
import type { Sql } from '../kernel/sql.ts';

export interface BaseImageRow {
  readonly id: string;
  readonly family: string;
  readonly version: string;
  readonly variant: string | null;
  /** Both null if no disk was imported. */
  readonly base_sha256: string | null;
  readonly base_disk_gb: number | null;
  /** Not available to new servers. */
  readonly deprecated: boolean;
}

/** Lists every official image that is offered, or was until it was deprecated. */
export async function listBaseImages(tx: Sql): Promise<BaseImageRow[]> {
  return await tx.rows<BaseImageRow>(
    `select id, family, version, variant, base_sha256, base_disk_gb, deprecated_at is not null as deprecated
       from images
      where type = 'official' and active order by family, released_at, version, variant`,
  );
}

/** Returns false when the id is not an official image. */
export async function setBaseImage(
  tx: Sql,
  imageId: string,
  disk: { readonly sha256: string; readonly diskGb: number },
): Promise<boolean> {
  const count = await tx.run(
    `update images set base_sha256 = $2, base_disk_gb = $3 where id = $1 and type = 'official'`,
    [imageId, disk.sha256, disk.diskGb],
  );
  return count === 1;
}
