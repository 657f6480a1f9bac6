import { invalidRequest, quotaExceeded, unknownReference } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import type { Volume, VolumeBody } from '../../spec/schemas/volume.ts';
import { findRegion } from '../../store/catalogue/catalogue.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import { countVolumes, insertVolume } from '../../store/volumes/volumes.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { recordAudit } from '../record.ts';
import { volumeObject } from './object.ts';

/**
 * Creates a detached volume, which uses no disk until it is attached. Refuses with `unknown_reference`
 * (region) and `limit_reached`.
 */
export async function createVolume(
  service: Service,
  actor: CustomerActor,
  body: VolumeBody,
  beforeCommit?: SaveResponse,
): Promise<Volume> {
  const name = parseDisplayName(body.name) ?? invalidRequest([{ field: 'name', issue: 'invalid_format' }]);
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    const region = (await findRegion(tx, body.region)) ?? unknownReference('region');
    // Without this lock, two concurrent requests would both see the last free slot.
    await lockBalance(tx, customerId);
    const limit = service.settings.quotas.volumes;
    if ((await countVolumes(tx, customerId, limit)) >= limit) quotaExceeded('volumes', limit);
    const row = await insertVolume(tx, {
      id: newId(now),
      customer_id: customerId,
      name,
      size_gb: body.size_gb,
      region_id: region.id,
      encrypted: body.encrypted ?? false,
      filesystem: body.filesystem ?? null,
      created_at: now,
    });
    const volume = volumeObject(row);
    await recordAudit(tx, { actor, action: 'volume.create', resource: volume.id }, now);
    await beforeCommit?.(tx, volume);
    return volume;
  });
}
