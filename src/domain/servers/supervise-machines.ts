/**
 * Supervises machines: the driver restarts machines that should be on, and the consequences are handled here.
 */
import { formatId } from '../../kernel/ids.ts';
import type { Service } from '../context.ts';
import { recheckAttachedVolumes } from '../volumes/recheck-attached.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from './driver-timeout.ts';
import { isServerId, reportFindings } from './findings.ts';
import { recordGuestShutdown } from './repair.ts';

/** Throws if the driver does not answer, because the state of the machines is unknown then. */
export async function superviseMachines(service: Service): Promise<void> {
  const outcomes = await withDriverTimeout(DRIVER_TIMEOUT_MS, service.compute.superviseMachines());
  const restarted = outcomes.filter(({ outcome }) => outcome === 'restarted');
  for (const { id, message } of restarted) {
    const machine = isServerId(id) ? formatId('server', id) : id;
    service.log.warn({ machine, says: message }, 'machine was restarted');
  }
  const serverIds = restarted.map(({ id }) => id).filter(isServerId);
  if (await recheckAttachedVolumes(service.db, serverIds, service.clock.now())) service.wake();
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed');
  const findings = failed.map(({ id, message }) => ({
    ...{ kind: 'failing_machine' as const, subject: id, host: null, says: message },
  }));
  await reportFindings(service, { kinds: ['failing_machine'], findings });
  const off = outcomes.filter(({ outcome }) => outcome === 'off');
  // A server with an operation under way is left to that operation.
  for (const { id } of off) if (isServerId(id)) await recordGuestShutdown(service, id);
}
