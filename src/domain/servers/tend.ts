/** Looking after machines: what should be on and is not is switched on again, by the driver; what must follow is done here. */
import { showId } from '../../kernel/ids.ts';
import type { Service } from '../context.ts';
import { lookAtVolumesOf } from '../volumes/look-again.ts';
import { isServerId, keepFindings } from './found.ts';
import { guestWentOff } from './put-right.ts';
import { ANSWER_MAX_MS, answerWithin } from './within.ts';

/** Fails when the driver has not answered: then nobody knows how the machines are. */
export async function tendMachines(service: Service): Promise<void> {
  const tended = await answerWithin(ANSWER_MAX_MS, service.compute.tend());
  const restarted = tended.filter(({ what }) => what === 'restarted');
  for (const { id, says } of restarted) {
    const machine = isServerId(id) ? showId('server', id) : id;
    service.log.warn({ machine, says }, 'machine was put right');
  }
  const serverIds = restarted.map(({ id }) => id).filter(isServerId);
  if (await lookAtVolumesOf(service.db, serverIds, service.clock.now())) service.wake();
  const failed = tended.filter(({ what }) => what === 'failed');
  const found = failed.map(({ id, says }) => ({
    ...{ kind: 'failing_machine' as const, subject: id, host: null, says },
  }));
  await keepFindings(service, { kinds: ['failing_machine'], found });
  const off = tended.filter(({ what }) => what === 'off');
  // One that something is being done to is left to that.
  for (const { id } of off) if (isServerId(id)) await guestWentOff(service, id);
}
