import { fail, notFound } from '../../kernel/fail.ts';
import { readId } from '../../kernel/ids.ts';
import { readName } from '../../kernel/printable.ts';
import type { FirewallGroup, FirewallGroupPatch } from '../../spec/schemas/firewall.ts';
import { findGroup, lockGroup, updateGroup as updateRow } from '../../store/firewall.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { Within } from '../idempotency.ts';
import { recordAudit } from '../record.ts';
import { type AppliedChange, lockNamed, recordApplied, replaceAppliedTo } from './applied-to.ts';
import { groupObject } from './object.ts';
import { markOfServers, requireSeen } from './seen.ts';

/**
 * Changes what is given. Refuses with `not_found`, and as `replaceAppliedTo` does; with `conflict_state` where `seen`, the mark
 * of the servers that the caller saw, is not theirs any more.
 */
export async function updateGroup(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  patch: FirewallGroupPatch,
  within?: Within,
  seen?: string,
): Promise<FirewallGroup> {
  const name = patch.name === undefined ? null : (readName(patch.name) ?? fail('bad_name'));
  const id = readId('firewallGroup', shownId) ?? notFound('firewallGroup');
  const updated = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    const named = patch.applied_to && (await lockNamed(tx, actor, patch.applied_to, id));
    if (!(await lockGroup(tx, customerId, id))) notFound('firewallGroup');
    const before = (await findGroup(tx, customerId, id)) ?? notFound('firewallGroup');
    requireSeen(seen, markOfServers(groupObject(before)));
    const unchanged: AppliedChange = { added: [], removed: [] };
    const group = { id, appliedTo: before.applied_to };
    const change = named ? await replaceAppliedTo(tx, service, group, named) : unchanged;
    const defaultAction = patch.default_action ?? null;
    await updateRow(tx, { id, name, defaultAction });
    const after = (await findGroup(tx, customerId, id)) ?? notFound('firewallGroup');
    const object = groupObject(after);
    await recordAudit(tx, { actor, action: 'firewall_group.update', resource: object.id }, now);
    await recordApplied(tx, actor, { ...change, object }, now);
    const staying = after.default_action === before.default_action ? change.added : after.applied_to;
    await enqueueTasks(tx, { kind: 'filter', subjects: [...staying, ...change.removed], now });
    await within?.(tx, object);
    return object;
  });
  service.wake();
  return updated;
}
