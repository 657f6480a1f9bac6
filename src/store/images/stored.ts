/** The files of customers' images, wherever they are stored. */
import type { Sql } from '../../kernel/sql.ts';

/** Returns those keys that an image, an upload, or a copy of a snapshot has. */
export async function findUsedBlobs(tx: Sql, keys: readonly string[]): Promise<Set<string>> {
  const rows = await tx.rows<{ key: string }>(
    `select key from unnest($1::uuid[]) as key
      where exists (select from images where id = key and blob_key is not null)
         or exists (select from image_uploads where id = key)
         or exists (select from snapshot_copies where snapshot_id = key)`,
    [keys],
  );
  return new Set(rows.map(({ key }) => key));
}

/** Returns the SHA-256 of an image's file; undefined if there is no such image with a file. */
export async function findBlobDigest(tx: Sql, key: string): Promise<string | undefined> {
  const row = await tx.row<{ sha256: string }>(
    `select sha256 from images where id = $1 and blob_key is not null`,
    [key],
  );
  return row?.sha256;
}

export async function countImageFiles(tx: Sql): Promise<{ readonly n: bigint; readonly bytes: bigint }> {
  const row = await tx.row<{ n: bigint; bytes: bigint }>(
    `select count(*) as n, coalesce(sum(size_bytes), 0)::int8 as bytes from images
      where blob_key is not null`,
  );
  return row ?? { n: 0n, bytes: 0n };
}
