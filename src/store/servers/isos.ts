/** The ISO images in the drives of servers, and what servers boot first. */
import type { Sql } from '../../kernel/sql.ts';
import type { BootOrder } from '../../spec/boot.ts';
import { assignmentsFor } from '../parameters.ts';
import type { ServerRow } from './servers.ts';

const ISO = 'iso_image_id, boot, updated_at';

export async function setServerIso(
  tx: Sql,
  server: Pick<ServerRow, 'id' | 'iso_image_id' | 'boot' | 'updated_at'>,
): Promise<void> {
  await tx.run(`update servers set ${assignmentsFor(ISO)} where id = $id`, server);
}

/** Whether the image is in the drive of a server. A server that is being deleted can no longer eject it. */
export async function isInsertedImage(tx: Sql, id: string): Promise<boolean> {
  const sql = `select from servers where iso_image_id = $1 and status <> 'destroying' limit 1`;
  return (await tx.row(sql, [id])) !== undefined;
}

export interface InsertedIsoRow {
  readonly boot: BootOrder;
  /** Both null if the drive is empty. */
  readonly blob_key: string | null;
  readonly sha256: string | null;
}

/** Returns the wanted content of the drive, with its file. */
export async function findInsertedIso(tx: Sql, serverId: string): Promise<InsertedIsoRow | undefined> {
  return await tx.row<InsertedIsoRow>(
    `select s.boot, i.blob_key, i.sha256 from servers s left join images i on i.id = s.iso_image_id
      where s.id = $1`,
    [serverId],
  );
}
