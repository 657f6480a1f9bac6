import { crashPoint } from '../../kernel/crash.ts';
import { fail } from '../../kernel/fail.ts';
import { GIB_BYTES } from '../../kernel/sizes.ts';
import type { Image } from '../../spec/schemas/image.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import { endUpload, insertCustomImage, readImageUsage } from '../../store/images/images.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { recordAudit } from '../record.ts';
import { readFields } from './fields.ts';
import { imageObject } from './object.ts';
import { requireImageQuota } from './quota.ts';
import type { ReceivedUpload } from './upload.ts';

/**
 * Creates an image from a received file. Refuses invalid parts with `invalid_request`, a file that is not ISO
 * 9660 with `invalid_value`, and an image over the quota with `limit_reached`. Afterward, the caller always
 * calls `received.discard()`.
 */
export async function createImage(
  service: Service,
  actor: CustomerActor,
  received: ReceivedUpload,
  beforeCommit?: SaveResponse,
): Promise<Image> {
  const fields = readFields(received);
  const file = received.file ?? fail('required', { field: 'file' });
  if (!file.isIso) {
    fail(
      'invalid_value',
      { field: 'file' },
      'The file is not an ISO 9660 image. Upload a bootable .iso file.',
    );
  }
  const image = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    await lockCustomer(tx, customerId);
    requireImageQuota(service.settings.quotas, await readImageUsage(tx, customerId), file.sizeBytes);
    // Another process saw this upload's lease expire and removed the file: the client must send it again,
    // and `maintenance` is the code that asks for that.
    if (!(await endUpload(tx, received.id))) fail('maintenance', { retry_after_s: 1 });
    const today = now.toISOString().slice(0, 10);
    const row = {
      id: received.id,
      ...fields,
      version: fields.version ?? today,
      size_gb: sizeGb(file.sizeBytes),
      released_at: today,
    };
    await insertCustomImage(tx, { ...row, customerId, sha256: file.sha256, sizeBytes: file.sizeBytes });
    const object = imageObject({
      ...row,
      type: 'custom',
      family: 'custom',
      cloud_init: false,
      deprecated_at: null,
    });
    await recordAudit(tx, { actor, action: 'image.create', resource: object.id }, now);
    await beforeCommit?.(tx, object);
    crashPoint('upload.image_written');
    return object;
  });
  crashPoint('upload.image_committed');
  return image;
}

/** Returns GiB with two decimals, at least 0.01. */
function sizeGb(bytes: number): string {
  return Math.max(bytes / GIB_BYTES, 0.01).toFixed(2);
}
