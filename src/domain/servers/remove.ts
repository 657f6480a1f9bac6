/** Step `remove`: the machine and its disk are gone, then the place, the addresses and the row. */
import { crashPoint } from '../../kernel/crash.ts';
import { showId } from '../../kernel/ids.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { move, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { lockBalance } from '../../store/ledger.ts';
import { finishOperation, type OperationRow } from '../../store/operations.ts';
import { releaseAddresses, releaseHost } from '../../store/places.ts';
import { holdNamed } from '../../store/published-rdns.ts';
import { deleteServer, findServer, lockServer } from '../../store/servers.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { Service } from '../context.ts';
import { releaseImage } from '../images/release.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { ask } from './ask.ts';
import { hasDriver, isSoldByHand, releasedMachine } from './hardware.ts';
import { serverObject } from './object.ts';
import { advance, lostLease, soonAgain } from './step.ts';
import { waitsForSnapshot } from './waits-for-snapshot.ts';
import { ANSWER_MAX_MS } from './within.ts';

export async function removeMachine(service: Service, operation: OperationRow): Promise<void> {
  if (await waitsForSnapshot(service, operation)) return;
  if (!(await offItsHost(service, operation))) return;
  crashPoint('destroy.removed');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    if (!(await finishOperation(tx, operation))) lostLease();
    await lockBalance(tx, server.customer_id);
    await releaseHost(tx, server.id, { state: releasedMachine(service), now });
    // Addresses that never answered need no rest.
    const restMs = server.first_run_at === null ? 0 : service.settings.addressRestDays * DAY_MS;
    const freeFrom = new Date(now.getTime() + restMs);
    await releaseAddresses(tx, server.id, freeFrom);
    // Names that may be published are withdrawn before anyone else gets the addresses.
    const named = service.dns !== null && (await holdNamed(tx, server.id, freeFrom));
    if (named) await enqueueTask(tx, { kind: 'rdns', subject: server.id, now });
    const { event } = move(SERVER_TRANSITIONS, 'destroying', 'destroyed');
    const { customer_id: customerId } = server;
    await recordEvent(tx, { customerId, type: event, object: serverObject(server) }, now);
    const resource = showId('server', server.id);
    await recordAudit(tx, { actor: systemActor(now), action: 'server.remove', resource, customerId }, now);
    await deleteServer(tx, server.id);
    await releaseImage(tx, server.image_id, now);
  });
  crashPoint('destroy.recorded');
}

/**
 * Whether the driver confirms that no host has the machine; otherwise the step is put off. Of one that was handed over by
 * hand there is nothing to confirm: it is not free until somebody has wiped it.
 */
export async function offItsHost(service: Service, operation: OperationRow): Promise<boolean> {
  const server = isSoldByHand(service, 'dedicated') && (await findServer(service.db, operation.server_id));
  if (server && !hasDriver(service, server)) return true;
  const fault = await ask(service, operation, {
    ms: ANSWER_MAX_MS,
    call: () => service.compute.remove(operation.server_id),
    failed: 'machine could not be removed',
  });
  if (fault) await advance(service.db, service, operation, soonAgain(service, operation));
  return fault === null;
}
