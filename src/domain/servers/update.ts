import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Server, ServerPatch } from '../../spec/schemas/server.ts';
import { lockOwnServer, type ServerRow, updateServer } from '../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { requireTagCount } from './deploy/inputs.ts';
import { requireActionAllowed } from './lock-server.ts';
import { serverObject } from './object.ts';

/**
 * Changes name, tags, labels, or auto_renew; an empty patch changes nothing. A server that waits for the
 * balance becomes `not_renewed` if auto_renew is turned off. Refuses with `not_found`, `conflict_state`,
 * `limit_reached`.
 */
export async function patchServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  patch: ServerPatch,
): Promise<Server> {
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const server = await lockServerForUpdate(tx, actor.customerId, shownId);
    if (patch.tags) requireTagCount(service, patch.tags);
    const changed = Object.keys(patch).length > 0 ? applyPatch(server, patch, now) : server;
    if (changed !== server) await updateServer(tx, changed);
    await recordAudit(tx, { actor, action: 'server.update', resource: shownId }, now);
    return serverObject(changed);
  });
}

/** Locks the server without waiting for operations: these fields are the customer's own labels. */
export async function lockServerForUpdate(tx: Sql, customerId: string, shownId: string): Promise<ServerRow> {
  const id = parseId('server', shownId) ?? notFound('server');
  const server = (await lockOwnServer(tx, customerId, id)) ?? notFound('server');
  requireActionAllowed(server, 'update');
  return server;
}

function applyPatch(server: ServerRow, patch: ServerPatch, now: Date): ServerRow {
  const stopsWaiting = patch.auto_renew === false && server.suspended_reason === 'balance';
  return {
    ...server,
    name: patch.name ?? server.name,
    tags: patch.tags ?? server.tags,
    labels: patch.labels ?? server.labels,
    auto_renew: patch.auto_renew ?? server.auto_renew,
    suspended_reason: stopsWaiting ? 'not_renewed' : server.suspended_reason,
    updated_at: now,
  };
}
