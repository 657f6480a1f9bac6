/**
 * Gives up on a server that could not be created: refunds the customer in full and removes what exists of it.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import { advanceOperation, type OperationRow } from '../../store/servers/operations.ts';
import { releaseHost } from '../../store/servers/placements.ts';
import { lockServer, type ServerRow, setServerStatus } from '../../store/servers/servers.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { releasedMachineState } from './hardware.ts';
import { refundFirstCycle } from './refund.ts';
import { releaseServerResources } from './release-resources.ts';
import { confirmRemovedFromHost } from './remove.ts';
import { operationLogFields, throwLeaseLost } from './step.ts';

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
  if (!(await advanceOperation(tx, removal))) throwLeaseLost();
  crashPoint('provision.refund_written');
}
