/** Invariants of alerts: what they list, and what they fire for. */
import type { Invariant } from './invariant.ts';

export const ALERT_INVARIANTS: readonly Invariant[] = [
  {
    name: 'alerts fire for servers of their customer',
    description: 'each firing belongs to an enabled alert and a server of the same customer',
    source: 'alert_firings',
    violations: `select f.server_id as id from alert_firings f
        join alerts a on a.id = f.alert_id join servers s on s.id = f.server_id
      where a.customer_id <> s.customer_id or not a.enabled`,
  },
  {
    name: 'alerts list servers of their customer',
    description: 'each listed server belongs to the customer of the alert, which has no label selector',
    source: 'alert_servers',
    violations: `select t.server_id as id from alert_servers t
        join alerts a on a.id = t.alert_id join servers s on s.id = t.server_id
      where a.customer_id <> s.customer_id or a.label_selector is not null`,
  },
];
