/** The wanted content of the drive for ISO images, and the boot order: the row of the server has both. */
import type { Sql } from '../../../kernel/sql.ts';
import type { BootOrder } from '../../../spec/boot.ts';
import { setServerIso } from '../../../store/servers/isos.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { releaseImage } from '../../images/remove.ts';

export interface WantedDrive {
  /** Null: it is empty. */
  readonly imageId: string | null;
  readonly boot: BootOrder;
}

export const EMPTY_DRIVE: WantedDrive = { imageId: null, boot: 'disk' };

/** Writes it if it differs. The caller holds the server's lock. */
export async function setIso(
  tx: Sql,
  { id, iso_image_id: before, boot }: ServerRow,
  wanted: WantedDrive,
  now: Date,
): Promise<void> {
  if (before === wanted.imageId && boot === wanted.boot) return;
  await setServerIso(tx, { id, iso_image_id: wanted.imageId, boot: wanted.boot, updated_at: now });
  if (before !== null && before !== wanted.imageId) await releaseImage(tx, before, now);
}
