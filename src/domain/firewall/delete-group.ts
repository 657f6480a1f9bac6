import { fail, notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { deleteGroup as deleteRow, findGroup, lockGroup } from '../../store/firewall.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

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
