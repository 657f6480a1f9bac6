import type { Server, ServerPatch } from '../../spec/schemas/server.ts';
import { findServer, type ServerRow, updateServer } from '../../store/servers/servers.ts';
import { asBegun } from '../actions/object.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { requireOperation } from '../tokens/limits/active.ts';
import { requireTagCount } from './deploy/inputs.ts';
import { changeBoot } from './iso/change.ts';
import { lockServerFor } from './lock-server.ts';
import { serverObject } from './object.ts';

/**
 * Changes name, tags, labels, protection, auto_renew, or boot; an empty patch changes nothing. A server that
 * waits for the balance becomes `not_renewed` if auto_renew is turned off. Refuses with `not_found`,
 * `conflict_state`, `wrong_state`, `limit_reached`.
 */
export async function patchServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  patch: ServerPatch,
): Promise<Server> {
  const { boot, ...fields } = patch;
  const updated = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const isProtection = Object.keys(patch).every((name) => name === 'protection');
    const action = isProtection && patch.protection ? 'protect' : 'update';
    const server = await lockServerFor(tx, actor.customerId, shownId, action);
    if (liftsProtection(server, patch)) requireOperation(actor.limits, 'servers.unprotect');
    if (patch.tags) requireTagCount(service, patch.tags);
    const changed = Object.keys(fields).length > 0 ? applyPatch(server, fields, now) : server;
    if (changed !== server) await updateServer(tx, changed);
    const boots = boot === undefined || boot === server.boot ? null : boot;
    if (boots !== null) await changeBoot(tx, service, server, { boot: boots, actor, now });
    await recordAudit(tx, { actor, action: 'server.update', resource: shownId }, now);
    if (boots === null) return serverObject(changed);
    const object = serverObject((await findServer(tx, server.id)) ?? changed);
    asBegun(object.action);
    return object;
  });
  if (boot !== undefined) service.wake();
  return updated;
}

function liftsProtection(server: ServerRow, { protection }: ServerPatch): boolean {
  const { protect_delete, protect_rebuild } = server;
  return (
    (protect_delete && protection?.delete === false) || (protect_rebuild && protection?.rebuild === false)
  );
}

function applyPatch(server: ServerRow, patch: Omit<ServerPatch, 'boot'>, now: Date): ServerRow {
  const stopsWaiting = patch.auto_renew === false && server.suspended_reason === 'balance';
  return {
    ...server,
    name: patch.name ?? server.name,
    tags: patch.tags ?? server.tags,
    labels: patch.labels ?? server.labels,
    protect_delete: patch.protection?.delete ?? server.protect_delete,
    protect_rebuild: patch.protection?.rebuild ?? server.protect_rebuild,
    auto_renew: patch.auto_renew ?? server.auto_renew,
    suspended_reason: stopsWaiting ? 'not_renewed' : server.suspended_reason,
    updated_at: now,
  };
}
