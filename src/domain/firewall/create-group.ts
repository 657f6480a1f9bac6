import { notFound, quotaExceeded } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { FirewallGroup, FirewallGroupBody } from '../../spec/schemas/firewall.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import { appendRules, countGroups, findGroup, insertGroup } from '../../store/firewall.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { recordAudit } from '../record.ts';
import { lockRequestedServers, recordApplied, replaceAppliedTo } from './applied-to.ts';
import { checkGroup } from './check.ts';
import { groupObject } from './object.ts';
import { withIds } from './rules.ts';

/** Creates a group with its rules and applies it. Fails with `limit_reached`, and like `replaceAppliedTo`. */
export async function createGroup(
  service: Service,
  actor: CustomerActor,
  body: FirewallGroupBody,
  saveResponse?: SaveResponse,
): Promise<FirewallGroup> {
  const { name, rules } = checkGroup(service, body);
  const group = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const requested = await lockRequestedServers(tx, actor, body.applied_to ?? [], null);
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
    const change = await replaceAppliedTo(tx, service, { id, appliedTo: [] }, requested);
    const object = groupObject((await findGroup(tx, customerId, id)) ?? notFound('firewallGroup'));
    await recordAudit(tx, { actor, action: 'firewall_group.create', resource: object.id }, now);
    await recordApplied(tx, actor, { ...change, object }, now);
    await enqueueTasks(tx, { kind: 'filter', subjects: change.added, now });
    await saveResponse?.(tx, object);
    return object;
  });
  service.wake();
  return group;
}

async function requireGroupQuota(service: Service, tx: Sql, actor: CustomerActor): Promise<void> {
  const limit = service.settings.quotas.firewallGroups;
  if ((await countGroups(tx, actor.customerId, limit)) >= limit) quotaExceeded('firewallGroups', limit);
}
