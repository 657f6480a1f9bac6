/**
 * Steps `leave_host` and `give_up`: confirm that the machine is off its host. Then the first reserves another
 * host (for a dedicated server, another machine), if one is left. Otherwise the customer is refunded in full,
 * and what exists of the server is removed.
 */

import { crashPoint } from '../../../kernel/crash.ts';
import { formatId } from '../../../kernel/ids.ts';
import { LeaseLost } from '../../../kernel/lease-lost.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../../spec/states.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { advanceOperation, type OperationRow } from '../../../store/servers/operations.ts';
import { releaseHost, reserveOtherHost, reserveOtherMachine } from '../../../store/servers/placements.ts';
import { lockServer, type ServerRow, setServerStatus } from '../../../store/servers/servers.ts';
import type { Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { refundFirstCycle } from '../billing/charge.ts';
import { releasedMachineState } from '../hardware.ts';
import { releaseServerResources } from '../operations/destroy.ts';
import { confirmRemovedFromHost } from '../operations/remove.ts';
import { advance, operationLogFields } from '../operations/step.ts';

/** Step `give_up`: no host can create it. Confirms that the machine is off its host, then refunds. */
export async function giveUp(service: Service, operation: OperationRow): Promise<void> {
  if (!(await confirmRemovedFromHost(service, operation))) return;
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) throw new Error('operation without a server');
    await lockBalance(tx, server.customer_id);
    await releaseHost(tx, server.id, { state: releasedMachineState(service), now: service.clock.now() });
    await refundAndDestroy(service, tx, server, operation);
  });
  crashPoint('provision.refunded');
  logProvisionFailed(service, operation);
  service.wake();
}

/** Call it after the commit: the operator reads here the reason that the customer does not see. */
export function logProvisionFailed(service: Service, operation: OperationRow): void {
  service.log.error(
    {
      ...operationLogFields(operation),
      reason: operation.last_fault,
      hostsBefore: operation.tried_hosts.length,
    },
    'server could not be provisioned and was refunded',
  );
}

/** Runs in the caller's transaction, which holds server and balance and has released the host. */
export async function refundAndDestroy(
  service: Service,
  tx: Sql,
  server: ServerRow,
  operation: OperationRow,
): Promise<void> {
  const now = service.clock.now();
  await refundFirstCycle(tx, server, 'could not be provisioned', now);
  const { to } = findTransition(SERVER_TRANSITIONS, server.status, 'destroy');
  await setServerStatus(tx, { id: server.id, status: to, now });
  await releaseServerResources(tx, server, now);
  const resource = formatId('server', server.id);
  const { customer_id: customerId } = server;
  await recordAudit(
    tx,
    { actor: systemActor(now), action: 'server.fail', resource, result: 'error', customerId },
    now,
  );
  const removal = { ...operation, kind: 'destroy', step: 'remove', attempts: 0, due_at: now } as const;
  if (!(await advanceOperation(tx, removal))) throw new LeaseLost();
  crashPoint('provision.refund_written');
}

/** Hosts to try before refunding the customer. */
const HOSTS_MAX = 5;

export async function leaveHost(service: Service, operation: OperationRow): Promise<void> {
  if (!(await confirmRemovedFromHost(service, operation))) return;
  const moved = await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) throw new Error('operation without a server');
    await lockBalance(tx, server.customer_id);
    // Never try a host twice, for any fault, so that the search ends.
    const previousHost = server.host_id ?? server.machine_id;
    const triedHosts =
      previousHost === null ? operation.tried_hosts : [...operation.tried_hosts, previousHost];
    const now = service.clock.now();
    await releaseHost(tx, server.id, { state: releasedMachineState(service), now });
    if (!(await allocateElsewhere(tx, server, triedHosts, now))) {
      await refundAndDestroy(service, tx, server, operation);
      return false;
    }
    await advance(tx, service, operation, { step: 'ensure', triedHosts, placedAt: now });
    return true;
  });
  crashPoint(moved ? 'provision.host_moved' : 'provision.refunded');
  if (!moved) logProvisionFailed(service, operation);
  service.wake();
}

async function allocateElsewhere(
  tx: Sql,
  server: ServerRow,
  tried: readonly string[],
  now: Date,
): Promise<boolean> {
  if (tried.length >= HOSTS_MAX) return false;
  const taken = server.machine_id
    ? await reserveOtherMachine(tx, {
        id: server.id,
        planId: server.plan_id,
        regionId: server.region_id,
        excludedMachines: tried,
        now,
      })
    : await reserveOtherHost(tx, {
        id: server.id,
        regionId: server.region_id,
        ramMb: server.ram_mb,
        diskGb: server.disk_gb,
        excludedHosts: tried,
      });
  return taken !== undefined;
}
