/**
 * A resize, step by step. Every step may run twice.
 *
 *   shut_down ─→ wait_off ─→ resize ── a running server ──→ wait_on ── runs ──→ done
 *                              │ ↑ └── a stopped one ─────────────────────────→ done
 *                              │ └─ copy ─→ take_over   (its host has no room: moves/steps.ts)
 *     refused, no room, or it does not start
 *              └──→ undo_resize ── it has its previous size ──→ (commit: plan and money are back) restarted
 */
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { findMove } from '../../../store/servers/moves.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { failure } from '../../actions/end.ts';
import { startOperation } from '../../actions/operations.ts';
import type { Service } from '../../context.ts';
import { deferForSnapshot } from '../../snapshots/ensure.ts';
import { completeOperation } from '../operations/complete.ts';
import { callDriver, ENSURE_TIMEOUT_MS } from '../operations/driver-call.ts';
import { advance, endOperation, operationLogFields, retryWithBackoff } from '../operations/step.ts';
import { resizePayload } from '../operations/step-inputs.ts';
import { applyFreeze } from '../operator/apply-freeze.ts';
import { auditServer } from '../transition.ts';
import { moneyBack, restorePreviousPlan } from './end.ts';

export async function resizeMachine(service: Service, operation: OperationRow): Promise<void> {
  if (await deferForSnapshot(service, operation)) return;
  const move = await findMove(service.db, operation.server_id);
  if (move?.state === 'copying') return await advance(service, operation, { step: 'copy' });
  const { size, wasRunning } = resizePayload(service, operation);
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: () => service.compute.resize(operation.server_id, size),
    failureMessage: 'machine could not be resized',
  });
  if (fault === null) {
    if (!wasRunning) return await completeOperation(service, operation);
    return await advance(service, operation, { step: 'wait_on', placedAt: service.clock.now() });
  }
  const mayPass = fault.fault === 'transient' || fault.fault === 'waiting';
  const next = mayPass ? retryWithBackoff(service, operation) : ({ step: 'undo_resize' } as const);
  await advance(service, operation, { ...next, fault: fault.message, cause: 'host_failed' });
}

/** The machine is asked for its size, because a call that seemed lost may have enlarged its disk. */
export async function undoResize(service: Service, operation: OperationRow): Promise<void> {
  // It failed before its move began.
  const move = await findMove(service.db, operation.server_id);
  if (move?.state === 'copying') return await advance(service, operation, { step: 'keep' });
  const payload = resizePayload(service, operation);
  const { cpu, ramMb, diskGb } = payload.previous;
  let hasGb = diskGb;
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: async () => {
      ({ diskGb: hasGb } = await service.compute.resize(operation.server_id, { cpu, ramMb, diskGb }));
    },
    failureMessage: 'machine could not get its previous size back',
  });
  // Refused: the host has no such machine, or cannot resize one.
  if (fault && fault.fault !== 'refused')
    return await advance(service, operation, retryWithBackoff(service, operation));
  const goBack = async (tx: Sql, server: ServerRow, now: Date): Promise<void> => {
    await restorePreviousPlan(tx, server, payload, { diskGb: hasGb, now });
    await auditServer(tx, server, 'server.resize', now, 'error');
    if (payload.wasRunning && server.status === 'running')
      return await startOperation(tx, server, { id: newId(now), kind: 'reboot', step: 'shut_down', now });
    await applyFreeze(tx, service, server.id, now);
  };
  const cause = operation.cause ?? 'host_failed';
  await endOperation(service, operation, goBack, (server) =>
    failure(cause, moneyBack(server, payload).cents),
  );
  service.log.error(
    { ...operationLogFields(operation), reason: operation.last_fault },
    'server could not be resized and keeps its plan',
  );
  service.wake();
}
