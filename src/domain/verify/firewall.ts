/** Invariants of firewall groups. */
import type { Invariant } from './invariant.ts';

export const FIREWALL_INVARIANTS: readonly Invariant[] = [
  {
    name: 'groups are applied to existing servers',
    description: 'a firewall group is applied only to servers of its own customer that are not being deleted',
    source: 'firewall_attachments',
    violations: `select a.group_id from firewall_attachments a
      where not exists (select from firewall_groups g join servers s on s.customer_id = g.customer_id
                         where g.id = a.group_id and s.id = a.server_id and s.status <> 'destroying')`,
  },
];
