import { fail, notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import type { FirewallGroup, FirewallGroupPatch } from '../../spec/schemas/firewall.ts';
import { findGroup, lockGroup, updateGroup as updateRow } from '../../store/firewall.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { recordAudit } from '../record.ts';
import { type AppliedChange, lockRequestedServers, recordApplied, replaceAppliedTo } from './applied-to.ts';
import { requireUnchanged, serversEtag } from './etag.ts';
import { groupObject } from './object.ts';

/**
 * Updates the given fields. Fails with `not_found`, like `replaceAppliedTo`, or with `conflict_state` if
 * the servers no longer match `expectedEtag`, the ETag of the servers that the caller saw.
 */
export async function updateGroup(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  patch: FirewallGroupPatch,
  saveResponse?: SaveResponse,
  expectedEtag?: string,
): Promise<FirewallGroup> {
  const name = patch.name === undefined ? null : (parseDisplayName(patch.name) ?? fail('bad_name'));
  const id = parseId('firewallGroup', shownId) ?? notFound('firewallGroup');
  const updated = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    const requested = patch.applied_to && (await lockRequestedServers(tx, actor, patch.applied_to, id));
    if (!(await lockGroup(tx, customerId, id))) notFound('firewallGroup');
    const before = (await findGroup(tx, customerId, id)) ?? notFound('firewallGroup');
    requireUnchanged(expectedEtag, serversEtag(groupObject(before)));
    const unchanged: AppliedChange = { added: [], removed: [] };
    const group = { id, appliedTo: before.applied_to };
    const change = requested ? await replaceAppliedTo(tx, service, group, requested) : unchanged;
    const defaultAction = patch.default_action ?? null;
    await updateRow(tx, { id, name, defaultAction });
    const after = (await findGroup(tx, customerId, id)) ?? notFound('firewallGroup');
    const object = groupObject(after);
    await recordAudit(tx, { actor, action: 'firewall_group.update', resource: object.id }, now);
    await recordApplied(tx, actor, { ...change, object }, now);
    const affected = after.default_action === before.default_action ? change.added : after.applied_to;
    await enqueueTasks(tx, { kind: 'filter', subjects: [...affected, ...change.removed], now });
    await saveResponse?.(tx, object);
    return object;
  });
  service.wake();
  return updated;
}
