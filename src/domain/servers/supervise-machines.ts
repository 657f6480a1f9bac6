/** Looking after machines: what should be on and is not is switched on again, by the driver; what must follow is done here. */
import { formatId } from '../../kernel/ids.ts';
import type { Service } from '../context.ts';
import { recheckAttachedVolumes } from '../volumes/recheck-attached.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from './driver-timeout.ts';
import { isServerId, reportFindings } from './findings.ts';
import { recordGuestShutdown } from './repair.ts';

/** Fails when the driver has not answered: then nobody knows how the machines are. */
export async function superviseMachines(service: Service): Promise<void> {
  const outcomes = await withDriverTimeout(DRIVER_TIMEOUT_MS, service.compute.superviseMachines());
  const restarted = outcomes.filter(({ outcome }) => outcome === 'restarted');
  for (const { id, message } of restarted) {
    const machine = isServerId(id) ? formatId('server', id) : id;
    service.log.warn({ machine, says: message }, 'machine was put right');
  }
  const serverIds = restarted.map(({ id }) => id).filter(isServerId);
  if (await recheckAttachedVolumes(service.db, serverIds, service.clock.now())) service.wake();
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed');
  const findings = failed.map(({ id, message }) => ({
    ...{ kind: 'failing_machine' as const, subject: id, host: null, says: message },
  }));
  await reportFindings(service, { kinds: ['failing_machine'], findings });
  const off = outcomes.filter(({ outcome }) => outcome === 'off');
  // One that something is being done to is left to that.
  for (const { id } of off) if (isServerId(id)) await recordGuestShutdown(service, id);
}
