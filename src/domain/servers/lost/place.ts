/**
 * Steps of a server whose host is lost and that is installed again on another one. Every step may run twice.
 *
 *   place ── another host has room ──→ replace ── created ──→ wait_replaced ── runs ──→ done
 *     ↑ waits for room, or an address    │ host fault: another host      │ absent: replace again
 *     └ (a first install continues with `ensure` instead)
 *
 * The server is never given up here: it is paid for, and its customer expects it.
 */
import type { Sql } from '../../../kernel/sql.ts';
import { DAY_MS, SECOND_MS } from '../../../kernel/time.ts';
import { ComputeError, type MachineSpec } from '../../../ports/compute.ts';
import { findLossOfServer, forgetMachine } from '../../../store/inventory/lost-hosts.ts';
import { reserveNamedAddresses } from '../../../store/inventory/published-rdns.ts';
import { cancelQueuedMove, findMove } from '../../../store/servers/moves.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import {
  assignAddresses,
  type FreeAddresses,
  findBuildDetails,
  findFreeAddresses,
  moveReservation,
  releaseAddresses,
} from '../../../store/servers/placements.ts';
import { lockServer, type ServerRow, setServerRdns } from '../../../store/servers/servers.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { readFilter } from '../../firewall/apply.ts';
import { INSTALL_TIMEOUT_MS } from '../deploy/provision.ts';
import { liftWithin } from '../floods/blackhole.ts';
import { settleMoveForRemoval } from '../moves/end.ts';
import { completeOperation } from '../operations/complete.ts';
import {
  callDriver,
  ENSURE_TIMEOUT_MS,
  IMAGE_WAIT_MS,
  observationStep,
  POLL_INTERVAL_MS,
} from '../operations/driver-call.ts';
import { setPower } from '../operations/power-steps.ts';
import { confirmRemovedFromHost, findHolder } from '../operations/remove.ts';
import { advance, retryWithBackoff, type StepResult } from '../operations/step.ts';
import { buildMachineSpec } from '../operations/step-inputs.ts';
import { seizeDisk } from './seize.ts';

/** While a copy of the server is being deleted. */
const COPY_WAIT_MS = 2 * SECOND_MS;

/** Step `place`: moves the server's place to another host, in one commit. */
export async function placeElsewhere(service: Service, operation: OperationRow): Promise<void> {
  if (!(await settleMoveForRemoval(service, operation))) return;
  if ((await seizeDisk(service, operation)) === 'waiting') return;
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    const step = operation.kind === 'provision' ? 'ensure' : 'replace';
    const placed = { step, placedAt: service.clock.now() } as const;
    await advance(service, operation, (await place(tx, service, operation, server)) ?? placed, tx);
  });
  service.wake();
}

/** Returns null once the server is on another host; otherwise how long it waits, and why. */
async function place(
  tx: Sql,
  service: Service,
  operation: OperationRow,
  server: ServerRow,
): Promise<StepResult | null> {
  const now = service.clock.now();
  const loss = await findLossOfServer(tx, server.id);
  if (!loss) return null;
  // A move that was queued meanwhile would wait for this operation, and the operation for it.
  await cancelQueuedMove(tx, server.id);
  // The copy that is left of a move may be on the host that has room.
  if (await findMove(tx, server.id)) return { inMs: COPY_WAIT_MS };
  const heldBy = await findHolder(tx, server);
  const addresses = heldBy === null ? null : await findFreeAddresses(tx, server.region_id, now);
  const wait = (fault: string): StepResult => ({ ...retryWithBackoff(service, operation), fault });
  if (addresses === undefined) return wait('its region has no free address');
  if (!(await moveReservation(tx, server, [loss.host_id]))) return wait('no other host has room for it');
  if (addresses !== null) await changeAddresses(tx, service, server, { addresses, heldBy, now });
  await forgetMachine(tx, server.id);
  return null;
}

/** The lost host may still use the addresses, so it keeps them. Their names are withdrawn. */
async function changeAddresses(
  tx: Sql,
  service: Service,
  server: ServerRow,
  change: { readonly addresses: FreeAddresses; readonly heldBy: string | null; readonly now: Date },
): Promise<void> {
  const { addresses, heldBy, now } = change;
  const freeFrom = new Date(now.getTime() + service.settings.addressRestDays * DAY_MS);
  // The flood was against the previous addresses.
  await liftWithin(tx, service, server, 'addresses');
  await releaseAddresses(tx, server.id, { freeFrom, heldBy, now });
  const named = service.dns !== null && (await reserveNamedAddresses(tx, server.id, freeFrom));
  await setServerRdns(tx, { id: server.id, rdns: {}, updated_at: now });
  if (named) await enqueueTask(tx, { kind: 'rdns', subject: server.id, now });
  await assignAddresses(tx, server.id, addresses, now);
}

/** Step `replace`: creates the machine on its new host, on the next disk. A shared disk becomes that disk. */
export async function replaceMachine(service: Service, operation: OperationRow): Promise<void> {
  const facts = await findBuildDetails(service.db, operation.server_id);
  if (!facts?.host) throw new Error('cannot install a server without a host');
  const machine = { id: operation.server_id, host: facts.host, generation: operation.generation + 1 };
  const filter = await readFilter(service, operation.server_id);
  const spec = { ...buildMachineSpec(service, machine, facts), filter };
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: () => (facts.shared_disk ? revive(service, spec) : service.compute.ensure(spec)),
    failureMessage: 'machine could not be created again',
  });
  if (fault === null) return await recordReplacing(service, operation);
  // Removing the machine there would delete a shared disk.
  if (fault.fault === 'host' && !facts.shared_disk)
    return await tryOtherHost(service, operation, fault.message);
  const next = fault.fault === 'waiting' ? { inMs: IMAGE_WAIT_MS } : retryWithBackoff(service, operation);
  await advance(service, operation, { ...next, fault: fault.message });
}

async function revive({ compute }: Service, spec: MachineSpec): Promise<void> {
  if (compute.revive === null) throw new ComputeError('transient', 'the driver has no shared storage');
  await compute.revive(spec);
}

/** The new machine has no limits yet, and its groups may have changed since its filter was read. */
async function recordReplacing(service: Service, operation: OperationRow): Promise<void> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    await advance(service, operation, { step: 'wait_replaced', inMs: POLL_INTERVAL_MS, placedAt: now }, tx);
    await enqueueTask(tx, { kind: 'filter', subject: operation.server_id, now });
    await enqueueTask(tx, { kind: 'traffic', subject: operation.server_id, now });
  });
}

/** Confirms that the machine is not on its host, and leaves for another one. If none has room, it stays. */
async function tryOtherHost(service: Service, operation: OperationRow, fault: string): Promise<void> {
  if (!(await confirmRemovedFromHost(service, operation))) return;
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server?.host_id) return;
    const tried = [...operation.tried_hosts, server.host_id];
    const moved = await moveReservation(tx, server, tried);
    const next = moved ? { triedHosts: tried } : { ...retryWithBackoff(service, operation), triedHosts: [] };
    await advance(service, operation, { ...next, fault }, tx);
  });
}

/** Step `wait_replaced`. */
export const waitReplaced = observationStep(async (service, operation, seen) => {
  const isThere = seen?.generation === operation.generation + 1;
  if (isThere && seen.state === 'running') return await completeOperation(service, operation);
  if (isThere && seen.state === 'stopped') await setPower(service, operation, 'on');
  if (seen?.state === 'absent')
    return await advance(service, operation, { step: 'replace', fault: 'the host lost the machine' });
  const isSlow = service.clock.now().getTime() - operation.placed_at.getTime() > INSTALL_TIMEOUT_MS;
  const next = isThere && !isSlow ? { inMs: POLL_INTERVAL_MS } : retryWithBackoff(service, operation);
  await advance(service, operation, next);
});
