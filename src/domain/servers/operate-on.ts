/** What all operations on a server have in common, from the request to its answer. */
import { crashPoint } from '../../kernel/crash.ts';
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { insertOperation, type OperationKind, type OperationStep } from '../../store/operations.ts';
import { findServer, type ServerRow } from '../../store/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { Within } from '../idempotency.ts';
import { recordAudit } from '../record.ts';
import { lockServerFor } from './lock-for.ts';
import { serverObject } from './object.ts';
import { type ReinstallPayload, type RescuePayload, sealPayload } from './payload.ts';

/** What an operation begins with. */
export interface Plan {
  readonly step: OperationStep;
  readonly payload?: RescuePayload | ReinstallPayload;
  readonly snapshotId?: string;
}

export interface Asked {
  readonly actor: CustomerActor;
  /** `srv_…` as it came. */
  readonly shownId: string;
  readonly action: Exclude<OperationKind, 'provision' | 'destroy' | 'suspend'>;
  readonly within: Within | undefined;
}

/**
 * Locks the server, lets `plan` check and change what the request says, begins the operation and answers with the
 * server, and with `extra` beside it. Refuses with `not_found` and `conflict_state`, and as `plan` does.
 */
export async function operateOn<Extra extends object = object>(
  service: Service,
  asked: Asked,
  plan: (tx: Sql, server: ServerRow, now: Date) => Promise<Plan>,
  extra?: Extra,
): Promise<Server & Extra> {
  const { actor, action } = asked;
  const answer = await service.db.transaction(async (tx) => {
    const server = await lockServerFor(tx, actor.customerId, asked.shownId, action);
    const now = service.clock.now();
    const { step, payload, snapshotId } = await plan(tx, server, now);
    await insertOperation(tx, {
      id: newId(now),
      server_id: server.id,
      kind: action,
      step,
      payload_sealed: payload ? sealPayload(service, payload) : null,
      snapshot_id: snapshotId ?? null,
      now,
    });
    const object = serverObject((await findServer(tx, server.id)) ?? server);
    await recordAudit(tx, { actor, action: `server.${action}`, resource: object.id }, now);
    const shown = { ...object, ...extra } as Server & Extra;
    await asked.within?.(tx, shown);
    crashPoint('operation.begun_written');
    return shown;
  });
  crashPoint('operation.begun');
  service.wake();
  return answer;
}
