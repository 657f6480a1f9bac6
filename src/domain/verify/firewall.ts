/** Firewall groups and the servers they are applied to. */
import type { Invariant } from './invariant.ts';

export const FIREWALL: readonly Invariant[] = [
  {
    name: 'groups are applied to what is there',
    proves: 'a firewall group is applied only to servers of its own customer that are not being destroyed',
    checks: 'firewall_attachments',
    broken: `select a.group_id from firewall_attachments a
      where not exists (select from firewall_groups g join servers s on s.customer_id = g.customer_id
                         where g.id = a.group_id and s.id = a.server_id and s.status <> 'destroying')`,
  },
];
