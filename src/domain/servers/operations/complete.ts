/** Completes an operation: deletes its row, moves the server's status by the table, and records the event. */
import type { Sql } from '../../../kernel/sql.ts';
import { addMonths } from '../../../kernel/time.ts';
import type { ActionErrorCode } from '../../../spec/action-commands.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../../spec/states.ts';
import { setPaidUntil } from '../../../store/billing/cycles.ts';
import { markStarted, setServerInstalled } from '../../../store/servers/installed.ts';
import type { OperationKind, OperationRow } from '../../../store/servers/operations.ts';
import { findServer, type ServerRow, setServerStatus } from '../../../store/servers/servers.ts';
import { failure } from '../../actions/end.ts';
import type { Service } from '../../context.ts';
import { releaseImage } from '../../images/remove.ts';
import { recordEvent } from '../../record.ts';
import { recheckAttachedVolumes } from '../../volumes/attach.ts';
import { currentPrice, priceColumns } from '../billing/price.ts';
import { setIso } from '../iso/drive.ts';
import { completeIsoChange, isIsoKind } from '../iso/end.ts';
import { serverObject } from '../object.ts';
import { applyFreeze, pendingFreezeChange } from '../operator/apply-freeze.ts';
import { completeResize } from '../resize/end.ts';
import { auditServer, moveServer } from '../transition.ts';
import { advance, endOperation, operationLogFields } from './step.ts';
import { reinstallPayload } from './step-inputs.ts';

/** The transition that completes each kind. A removal ends in `remove.ts`. */
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
/** Operations after which the volumes of a machine may have to be attached. */
const POWER_ON_KINDS: readonly OperationKind[] = [
  'provision',
  'rebuild',
  'restore',
  'start',
  'reboot',
  'rescue',
];

/** Records that the driver has done everything the operation asked for. */
export async function completeOperation(service: Service, operation: OperationRow): Promise<void> {
  const { kind } = operation;
  if (kind === 'destroy' || kind === 'move') throw new Error(`a ${kind} must be recorded by its own steps`);
  // The server has been suspended since the request.
  if (kind === 'suspend') return await finishUnchanged(service, operation);
  if (kind === 'resize') return await completeResize(service, operation);
  if (isIsoKind(kind)) return await completeIsoChange(service, operation, kind);
  const isInstall = INSTALL_KINDS.includes(kind);
  await endOperation(service, operation, async (tx, server, now) => {
    const trigger = triggerOf(operation, server) ?? TRIGGERS[kind];
    const { to, event } = findTransition(SERVER_TRANSITIONS, server.status, trigger);
    if (kind === 'rebuild' || kind === 'restore') {
      await releaseImage(tx, reinstallPayload(service, operation).imageId, now);
      // As the driver did when it switched to the new disk.
      await setIso(tx, server, { imageId: server.iso_image_id, boot: 'disk' }, now);
    }
    if (isInstall) {
      if (kind === 'provision' && server.paid_until <= now) await restartFirstCycle(tx, server, now);
      await setServerInstalled(tx, { id: server.id, status: to, onNewDisk: kind !== 'provision', now });
    } else {
      // Also when the status stays the same: a reboot must update `updated_at`.
      await setServerStatus(tx, { id: server.id, status: to, now });
      if (kind === 'start' && server.never_started) await markStarted(tx, server.id);
    }
    if (POWER_ON_KINDS.includes(kind)) await recheckAttachedVolumes(tx, [server.id], now);
    const updated = (await findServer(tx, server.id)) ?? server;
    const object = serverObject(updated);
    if (event) await recordEvent(tx, { customerId: updated.customer_id, type: event, object }, now);
    if (isInstall) await auditServer(tx, updated, to === 'running' ? 'server.run' : 'server.stop', now);
    if (pendingFreezeChange(updated)) await applyFreeze(tx, service, updated.id, now);
  });
}

/** The transition, where it is not that of the kind. */
function triggerOf({ kind, step }: OperationRow, server: ServerRow) {
  const { status, shared_disk: isShared } = server;
  if (kind === 'provision' && server.never_started) return 'created_stopped';
  if (kind === 'start' && status === 'suspended') return 'resume_running';
  // Another host runs the disk that a lost one had: nothing was rebuilt.
  return step === 'wait_replaced' && isShared ? 'install_completes' : null;
}

/** Restarts the first cycle at the first run if installing took longer than the whole cycle. */
async function restartFirstCycle(tx: Sql, server: ServerRow, now: Date): Promise<void> {
  const anchorDay = now.getUTCDate();
  await setPaidUntil(tx, {
    id: server.id,
    paidUntil: addMonths(now, server.billing_months, anchorDay),
    anchorDay,
    ...priceColumns(currentPrice(server)),
    now,
  });
}

/** Ends an operation without a visible change, unless the operator unfroze the server in the meantime. */
async function finishUnchanged(service: Service, operation: OperationRow): Promise<void> {
  await endOperation(service, operation, async (tx, server, now) => {
    await applyFreeze(tx, service, server.id, now);
  });
}

/**
 * Ends an operation that the driver refuses permanently or whose machine does not exist. A server that was
 * paid to resume becomes stopped instead of suspended, so that the customer does not pay again for another
 * attempt.
 */
export async function failOperation(
  service: Service,
  operation: OperationRow,
  reason: string,
  code: ActionErrorCode = 'host_failed',
): Promise<void> {
  const { kind } = operation;
  if (kind === 'provision' || kind === 'destroy' || kind === 'move')
    throw new Error(`a ${kind} cannot fail this way`);
  if (kind === 'suspend') return await finishUnchanged(service, operation);
  if (kind === 'resize')
    return await advance(service, operation, { step: 'undo_resize', fault: reason, cause: code });
  if (isIsoKind(kind))
    return await advance(service, operation, { step: 'empty_drive', fault: reason, cause: code });
  const end = failure(code, kind === 'start' ? 'kept' : 0n);
  const record = async (tx: Sql, server: ServerRow, now: Date): Promise<void> => {
    if (kind === 'start' && server.status === 'suspended')
      await moveServer(tx, server, 'resume_stopped', now);
    await auditServer(tx, server, `server.${kind}`, now, 'error');
    await applyFreeze(tx, service, server.id, now);
  };
  await endOperation(service, operation, record, end);
  service.log.error({ ...operationLogFields(operation), kind, reason }, 'operation failed and was given up');
}
