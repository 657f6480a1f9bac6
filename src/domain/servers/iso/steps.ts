/**
 * A change of the drive for ISO images, or of the boot order, step by step. Every step may run twice.
 *
 *   change_iso ── the machine has what its row says ──→ done
 *      │ refused, the host has no room for the image, or does not get it in time
 *      └──→ empty_drive ──→ (commit: the drive is empty, and the disk boots) failed
 */
import { findInsertedIso } from '../../../store/servers/isos.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import type { Service } from '../../context.ts';
import { isoForImage } from '../../images/installable.ts';
import { completeOperation } from '../operations/complete.ts';
import {
  callDriver,
  type DriverFault,
  ENSURE_TIMEOUT_MS,
  IMAGE_TIMEOUT_MS,
  IMAGE_WAIT_MS,
} from '../operations/driver-call.ts';
import { advance, retryWithBackoff, type StepResult } from '../operations/step.ts';
import { failIsoChange } from './end.ts';

export async function changeIso(service: Service, operation: OperationRow): Promise<void> {
  const wanted = await findInsertedIso(service.db, operation.server_id);
  if (wanted === undefined) return;
  const drive = { iso: isoForImage(service, wanted), boot: wanted.boot };
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: () => service.compute.setIso(operation.server_id, drive),
    failureMessage: 'the ISO image of a machine could not be changed',
  });
  if (fault === null) return await completeOperation(service, operation);
  await advance(service, operation, { ...nextStep(service, operation, fault), fault: fault.message });
}

function nextStep(service: Service, operation: OperationRow, { fault }: DriverFault): StepResult {
  const ageMs = service.clock.now().getTime() - operation.created_at.getTime();
  if (fault === 'waiting' && ageMs < IMAGE_TIMEOUT_MS) return { inMs: IMAGE_WAIT_MS };
  if (fault === 'transient') return retryWithBackoff(service, operation);
  return { step: 'empty_drive', cause: fault === 'waiting' ? 'timeout' : 'host_failed' };
}

/** A call that seemed lost may have inserted it after all. */
export async function emptyDrive(service: Service, operation: OperationRow): Promise<void> {
  const fault = await callDriver(service, operation, {
    call: () => service.compute.setIso(operation.server_id, { iso: null, boot: 'disk' }),
    failureMessage: 'the ISO image of a machine could not be ejected',
  });
  // Refused: the host has no such machine, or no machine with such a drive.
  if (fault && fault.fault !== 'refused')
    return await advance(service, operation, retryWithBackoff(service, operation));
  await failIsoChange(service, operation);
}
