/** Chooses the image that a rebuild installs. */
import { fail, unknownReference } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { findOfficialImage } from '../../../store/servers/reinstalls.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import type { Service } from '../../context.ts';
import { findUsableImage, requireBaseImage } from '../../images/installable.ts';
import { isImageRemoved } from '../../images/read.ts';
import { driverCapabilities } from '../hardware.ts';

const FIELD = { field: 'image' } as const;

interface ChosenImage {
  readonly id: string;
  readonly cloud_init: boolean;
}

/**
 * Returns the named image, or the installed one if none is named. Refuses with `unknown_reference` an image
 * that the customer does not have, and with `unavailable` an image that cannot be installed here: deprecated
 * and not installed now, removed since, without a fitting base disk where one is required, or custom where
 * the hardware takes none.
 */
export async function chooseImage(
  service: Service,
  tx: Sql,
  server: ServerRow,
  request: {
    readonly shownId: string | undefined;
    readonly category: 'vps' | 'dedicated';
    readonly now: Date;
  },
): Promise<ChosenImage> {
  const { shownId, category, now } = request;
  const currentImageId = formatId(server.image_type === 'custom' ? 'customImage' : 'image', server.image_id);
  const image = await findImage(tx, server, shownId ?? currentImageId, now);
  if (!image) {
    if (shownId !== undefined) unknownReference('image');
    fail('unavailable', FIELD, 'The image of this server can no longer be installed. Choose another image.');
  }
  if (image.custom && !driverCapabilities(service.compute, category).customImages) {
    fail('unavailable', FIELD, 'This hardware cannot boot custom images. Choose an official image.');
  }
  if (image.deprecated && image.id !== server.image_id) {
    fail(
      'unavailable',
      FIELD,
      'This image is deprecated. Only servers that already have it can install it. Choose a newer one.',
    );
  }
  if (!image.custom) requireBaseImage(service, { category, disk_gb: server.disk_gb }, image);
  return image;
}

type FoundImage = ChosenImage & {
  readonly custom: boolean;
  readonly deprecated: boolean;
  readonly base_disk_gb: number | null;
};

async function findImage(
  tx: Sql,
  server: ServerRow,
  shownId: string,
  now: Date,
): Promise<FoundImage | undefined> {
  const own = await findUsableImage(tx, server.customer_id, shownId, { installed: server.image_id });
  if (own)
    return { id: own.id, cloud_init: own.cloud_init, custom: true, deprecated: false, base_disk_gb: null };
  const id = parseId('image', shownId);
  const row = id === undefined ? undefined : await findOfficialImage(tx, id);
  if (!row || isImageRemoved(row.deprecated_at, now)) return undefined;
  const { deprecated_at: deprecatedAt, ...image } = row;
  return { ...image, custom: false, deprecated: deprecatedAt !== null };
}
