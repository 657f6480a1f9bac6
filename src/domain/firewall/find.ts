import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';
import { findGroup, pageGroups } from '../../store/firewall.ts';
import type { CustomerActor, Service } from '../context.ts';
import { groupObject } from './object.ts';

/** Returns a group by its public id. Unknown, malformed, and another customer's ids are `not_found`. */
export async function getGroup(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<FirewallGroup> {
  const id = parseId('firewallGroup', shownId) ?? notFound('firewallGroup');
  return groupObject((await findGroup(service.db, actor.customerId, id)) ?? notFound('firewallGroup'));
}

export async function listGroups(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: FirewallGroup[]; next: PagePosition | null }> {
  const { rows, next } = await pageGroups(service.db, actor.customerId, page);
  return { items: rows.map(groupObject), next };
}
