/** Creates, updates, and deletes firewall groups. */

import { fail, notFound, requireQuota } from '../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { FirewallGroup, FirewallGroupBody, FirewallGroupPatch } from '../../spec/schemas/firewall.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import {
  appendRules,
  countGroups,
  deleteGroup as deleteRow,
  findGroup,
  insertGroup,
  lockGroup,
  updateGroup as updateRow,
} from '../../store/firewall.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { readQuotas } from '../customers/own-limits.ts';
import { recordAudit } from '../record.ts';
import { requireInsideNew } from '../tokens/limits/active.ts';
import { changeAppliedTo, lockRequestedServers, recordApplied } from './applied-to.ts';
import { checkGroup, checkServerLists } from './check.ts';
import {
  groupObject,
  hiddenServers,
  requireUnchanged,
  requireWholeGroup,
  serversEtag,
  shownGroup,
} from './read.ts';
import { withIds } from './rules.ts';

/** Creates a group with its rules and applies it. Fails with `limit_reached`, and like `changeAppliedTo`. */
export async function createGroup(
  service: Service,
  actor: CustomerActor,
  body: FirewallGroupBody,
): Promise<FirewallGroup> {
  const { name, rules } = checkGroup(service, body);
  requireInsideNew(actor.limits, {});
  const group = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const requested = await lockRequestedServers(tx, actor, { applied_to: body.applied_to ?? [] }, null);
    await lockCustomer(tx, actor.customerId);
    await requireGroupQuota(service, tx, actor);
    const { customerId } = actor;
    const id = newId(now);
    await insertGroup(tx, {
      id,
      customerId,
      name,
      default_action: body.default_action,
      created_at: now,
    });
    await appendRules(tx, id, withIds(rules, now));
    const change = await changeAppliedTo(tx, service, { id, appliedTo: [] }, requested);
    const object = groupObject((await findGroup(tx, customerId, id)) ?? notFound('firewallGroup'));
    await recordAudit(tx, { actor, action: 'firewall_group.create', resource: object.id }, now);
    await recordApplied(tx, actor, { ...change, object }, now);
    await enqueueTasks(tx, { kind: 'filter', subjects: change.added, now });
    await actor.saveResponse?.(tx, object);
    return object;
  });
  service.wake();
  return group;
}

async function requireGroupQuota(service: Service, tx: Sql, actor: CustomerActor): Promise<void> {
  const { firewallGroups: limit } = await readQuotas(service, tx, actor.customerId);
  requireQuota('firewallGroups', limit, await countGroups(tx, actor.customerId, limit));
}

/**
 * Updates the given fields. Fails with `not_found`, like `changeAppliedTo`, or with `conflict_state` if
 * the servers no longer match `expectedEtag`, the ETag of the servers that the caller saw.
 */
export async function updateGroup(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  patch: FirewallGroupPatch,
  expectedEtag?: string,
): Promise<FirewallGroup> {
  const name = patch.name === undefined ? null : (parseDisplayName(patch.name) ?? fail('bad_name'));
  checkServerLists(patch);
  const id = parseId('firewallGroup', shownId) ?? notFound('firewallGroup');
  const updated = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    const requested = await lockRequestedServers(tx, actor, patch, id);
    if (!(await lockGroup(tx, customerId, id))) notFound('firewallGroup');
    const before = (await findGroup(tx, customerId, id)) ?? notFound('firewallGroup');
    if (patch.default_action !== undefined) await requireWholeGroup(tx, actor, before);
    requireUnchanged(expectedEtag, serversEtag(groupObject(before)));
    const hidden = await hiddenServers(tx, actor, before.applied_to);
    const group = { id, appliedTo: before.applied_to, hidden };
    const change = await changeAppliedTo(tx, service, group, requested);
    const defaultAction = patch.default_action ?? null;
    await updateRow(tx, { id, name, defaultAction });
    const after = (await findGroup(tx, customerId, id)) ?? notFound('firewallGroup');
    const object = groupObject(after);
    await recordAudit(tx, { actor, action: 'firewall_group.update', resource: object.id }, now);
    await recordApplied(tx, actor, { ...change, object }, now);
    const affected = after.default_action === before.default_action ? change.added : after.applied_to;
    await enqueueTasks(tx, { kind: 'filter', subjects: [...affected, ...change.removed], now });
    const shown = shownGroup(after, hidden);
    await actor.saveResponse?.(tx, shown);
    return shown;
  });
  service.wake();
  return updated;
}

/**
 * Deletes a group with its rules. Fails with `not_found`, or with `conflict_state` while the group is
 * applied.
 */
export async function deleteGroup(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const id = parseId('firewallGroup', shownId) ?? notFound('firewallGroup');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await lockGroup(tx, actor.customerId, id))) notFound('firewallGroup');
    const group = (await findGroup(tx, actor.customerId, id)) ?? notFound('firewallGroup');
    if (group.applied_to.length > 0) {
      fail('conflict_state', {}, 'The group is applied to servers. Set its applied_to to [] first.');
    }
    await deleteRow(tx, id);
    const resource = formatId('firewallGroup', id);
    await recordAudit(tx, { actor, action: 'firewall_group.delete', resource }, now);
  });
}
