/** Destroys a server in any status. */
import { newId } from '../../../kernel/ids.ts';
import { centsToUsd } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { ActionErrorCode } from '../../../spec/action-commands.ts';
import type { DeletedServer } from '../../../spec/schemas/server-actions.ts';
import { sumRefunds } from '../../../store/billing/cycles.ts';
import { detachFromAllGroups } from '../../../store/firewall.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { findServer, type ServerRow } from '../../../store/servers/servers.ts';
import { failure } from '../../actions/end.ts';
import { replaceOperation } from '../../actions/operations.ts';
import type { Actor, CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { detachServerVolumes } from '../../volumes/attach.ts';
import { refundFirstCycle } from '../billing/charge.ts';
import { priceDeletion } from '../billing/price.ts';
import { lockServerFor } from '../lock-server.ts';
import { serverObject } from '../object.ts';
import { moveServer } from '../transition.ts';

/** Idempotent until the removal ends, then `not_found`. A server that never ran is refunded in full. */
export async function destroyServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<DeletedServer> {
  const destroyed = await service.db.transaction(async (tx) => {
    const server = await lockServerFor(tx, actor.customerId, shownId, 'destroy');
    const now = service.clock.now();
    if (server.status !== 'destroying') await startRemoval(tx, server, { now, actor });
    const object = serverObject((await findServer(tx, server.id)) ?? server);
    await recordAudit(tx, { actor, action: 'server.destroy', resource: object.id }, now);
    return { ...object, refund_usd: centsToUsd(await sumRefunds(tx, server.id)) };
  });
  service.wake();
  return destroyed;
}

/**
 * Runs in the caller's transaction, which holds the server's lock, found no legal hold, and writes the audit
 * row. The removal replaces any operation that is under way, whose action ends with `cause`.
 */
export async function startRemoval(
  tx: Sql,
  server: ServerRow,
  removal: {
    readonly now: Date;
    /** Whose request it is. */
    readonly actor?: Actor;
    readonly cause?: ActionErrorCode;
    /** The amount that the caller has refunded. */
    readonly refundedCents?: bigint;
  },
): Promise<void> {
  const { now, actor, cause = 'cancelled', refundedCents = 0n } = removal;
  await lockBalance(tx, server.customer_id);
  const refund = priceDeletion(server);
  if (refund) await refundFirstCycle(tx, server, refund, now);
  await moveServer(tx, server, 'destroy', now);
  await releaseServerResources(tx, server, now);
  const operation = { id: newId(now), kind: 'destroy', step: 'remove', actor, now } as const;
  await replaceOperation(tx, server, operation, failure(cause, refund?.cents ?? refundedCents));
}

/**
 * Detaches everything from a server that is about to be destroyed. Its snapshots stay. The caller holds its
 * lock.
 */
export async function releaseServerResources(tx: Sql, server: ServerRow, now: Date): Promise<void> {
  await detachServerVolumes(tx, server.id, now);
  await detachFromAllGroups(tx, server.id);
}
