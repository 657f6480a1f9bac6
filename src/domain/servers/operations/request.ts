/** The part that all server operations share, from the request to its response. */
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { OperationKind, OperationStep } from '../../../store/servers/operations.ts';
import { findServer, type ServerRow } from '../../../store/servers/servers.ts';
import { startOperation } from '../../actions/operations.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { requireDriver } from '../hardware.ts';
import { lockServerFor } from '../lock-server.ts';
import { serverObject } from '../object.ts';
import { type OperationPayload, sealPayload } from './step-inputs.ts';

/** How an operation starts. */
export interface OperationPlan {
  readonly step: OperationStep;
  readonly payload?: OperationPayload;
  readonly snapshotId?: string;
  /** When the time limit of the step began; now if omitted. */
  readonly placedAt?: Date;
}

export interface OperationRequest {
  readonly actor: CustomerActor;
  /** `srv_…` as received. */
  readonly shownId: string;
  readonly action: Exclude<OperationKind, 'provision' | 'destroy' | 'suspend' | 'move'>;
}

/**
 * Locks the server, lets `plan` validate and apply the request, starts the operation, and returns the server
 * together with `extra`. A plan of null needs no driver and is already complete. Refuses with `not_found` and
 * `conflict_state`, with `unavailable` if no driver reaches the machine, and as `plan` does.
 */
export async function requestOperation<Extra extends object = object>(
  service: Service,
  request: OperationRequest,
  plan: (tx: Sql, server: ServerRow, now: Date) => Promise<OperationPlan | null>,
  extra?: Extra,
): Promise<Server & Extra> {
  const { actor, action } = request;
  const response = await service.db.transaction(async (tx) => {
    const server = await lockServerFor(tx, actor.customerId, request.shownId, action);
    const now = service.clock.now();
    // A suspended server may be paid for; if no driver reaches it, the operator powers it on.
    if (server.status !== 'suspended') requireDriver(service, server);
    const planned = await plan(tx, server, now);
    if (planned) {
      const { step, payload, snapshotId, placedAt } = planned;
      const id = newId(now);
      await startOperation(tx, server, {
        id,
        kind: action,
        step,
        payload_sealed: payload ? sealPayload(service, id, payload) : null,
        snapshot_id: snapshotId ?? null,
        placed_at: placedAt ?? now,
        actor,
        now,
      });
    }
    const object = serverObject((await findServer(tx, server.id)) ?? server);
    await recordAudit(tx, { actor, action: `server.${action}`, resource: object.id }, now);
    const shown = { ...object, ...extra } as Server & Extra;
    await actor.saveResponse?.(tx, shown);
    return shown;
  });
  service.wake();
  return response;
}
