/** The end of an operation: its row goes, the server's status moves as the table says, and the event tells of it. */
import { type CrashPoint, crashPoint } from '../../kernel/crash.ts';
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { addMonths } from '../../kernel/time.ts';
import { findTransition, SERVER_TRANSITIONS, type ServerStatus } from '../../spec/states.ts';
import { setPaidUntil } from '../../store/cycles.ts';
import { finishOperation, type OperationKind, type OperationRow } from '../../store/operations.ts';
import {
  findServer,
  lockServer,
  type ServerRow,
  setServerInstalled,
  setServerStatus,
} from '../../store/servers.ts';
import type { Service } from '../context.ts';
import { releaseImage } from '../images/release-image.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { recheckAttachedVolumes } from '../volumes/recheck-attached.ts';
import { applyFreeze, pendingFreezeChange } from './apply-freeze.ts';
import { serverObject } from './object.ts';
import { reinstallPayload } from './payload.ts';
import { operationLogFields, throwLeaseLost } from './step.ts';

/** By which transition each kind ends; a removal ends in its own way. */
const TRIGGERS = {
  provision: 'install_completes',
  rebuild: 'rebuild_completes',
  restore: 'rebuild_completes',
  stop: 'stop',
  start: 'start',
  reboot: 'reboot',
  rescue: 'rescue',
} as const;

const INSTALL_KINDS: readonly OperationKind[] = ['provision', 'rebuild', 'restore'];
/** What switches a machine on that may have volumes. */
const POWER_ON_KINDS: readonly OperationKind[] = ['rebuild', 'restore', 'start', 'reboot', 'rescue'];

/** The driver has done all that the operation asked for. */
export async function completeOperation(service: Service, operation: OperationRow): Promise<void> {
  const { kind } = operation;
  if (kind === 'destroy') throw new Error('a removal is recorded where it ends');
  // The server has been suspended all along.
  if (kind === 'suspend') return await finishUnchanged(service, operation);
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    if (!(await finishOperation(tx, operation))) throwLeaseLost();
    const { to, event } = findTransition(
      SERVER_TRANSITIONS,
      server.status,
      transitionTrigger(kind, server.status),
    );
    if (kind === 'rebuild' || kind === 'restore') {
      await releaseImage(tx, reinstallPayload(service, operation).imageId, now);
    }
    if (INSTALL_KINDS.includes(kind)) {
      if (kind === 'provision' && server.paid_until <= now) await restartFirstCycle(tx, server, now);
      await setServerInstalled(tx, { id: server.id, onNewDisk: kind !== 'provision', now });
    } else {
      // Also where the status stays: a reboot is a change that `updated_at` shows.
      await setServerStatus(tx, { id: server.id, status: to, now });
    }
    if (POWER_ON_KINDS.includes(kind)) await recheckAttachedVolumes(tx, [server.id], now);
    const updated = await findServer(tx, server.id);
    if (!updated) return;
    const { customer_id: customerId } = updated;
    if (event) await recordEvent(tx, { customerId, type: event, object: serverObject(updated) }, now);
    if (INSTALL_KINDS.includes(kind)) {
      const resource = formatId('server', updated.id);
      await recordAudit(tx, { actor: systemActor(now), action: 'server.run', resource, customerId }, now);
    }
    if (pendingFreezeChange(updated)) await applyFreeze(tx, service, updated.id, now);
    crashPoint(crashPointFor(kind, 'provision.running_written', 'operation.end_written'));
  });
  crashPoint(crashPointFor(kind, 'provision.running_recorded', 'operation.ended'));
}

/** A server that could not run as long as its first cycle lasted has that cycle from its first run on. */
async function restartFirstCycle(tx: Sql, server: ServerRow, now: Date): Promise<void> {
  const anchorDay = now.getUTCDate();
  await setPaidUntil(tx, {
    id: server.id,
    paidUntil: addMonths(now, server.billing_months, anchorDay),
    anchorDay,
    monthCents: server.price_cents_month,
    cycleCents: server.price_cents_cycle,
    now,
  });
}

/** Nothing changes for the customer, unless the operator has released the server meanwhile. */
async function finishUnchanged(service: Service, operation: OperationRow): Promise<void> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    if (!(await finishOperation(tx, operation))) throwLeaseLost();
    if (pendingFreezeChange(server)) await applyFreeze(tx, service, server.id, now);
    crashPoint('operation.end_written');
  });
  crashPoint('operation.ended');
}

/**
 * The driver refuses for good, or has no such machine: the operation is over and nothing came of it. A server that was
 * paid to resume is no longer suspended, so that nobody pays twice for another try.
 */
export async function failOperation(
  service: Service,
  operation: OperationRow,
  reason: string,
): Promise<void> {
  const { kind } = operation;
  if (kind === 'provision' || kind === 'destroy') throw new Error(`a ${kind} does not fall through`);
  if (kind === 'suspend') return await finishUnchanged(service, operation);
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    if (!(await finishOperation(tx, operation))) throwLeaseLost();
    if (kind === 'start' && server.status === 'suspended') {
      const { to } = findTransition(SERVER_TRANSITIONS, server.status, 'resume_stopped');
      await setServerStatus(tx, { id: server.id, status: to, now });
    }
    await recordAudit(
      tx,
      {
        actor: systemActor(now),
        action: `server.${kind}`,
        resource: formatId('server', server.id),
        result: 'error',
        customerId: server.customer_id,
      },
      now,
    );
    await applyFreeze(tx, service, server.id, now);
    crashPoint('operation.end_written');
  });
  crashPoint('operation.ended');
  service.log.error({ ...operationLogFields(operation), kind, reason }, 'operation was given up');
}

function transitionTrigger(
  kind: keyof typeof TRIGGERS,
  status: ServerStatus,
): (typeof TRIGGERS)[keyof typeof TRIGGERS] | 'resume_running' {
  return kind === 'start' && status === 'suspended' ? 'resume_running' : TRIGGERS[kind];
}

function crashPointFor(kind: OperationKind, provision: CrashPoint, other: CrashPoint): CrashPoint {
  return kind === 'provision' ? provision : other;
}
