/** Invariants of actions: each running action has work behind it, and work has its action. */
import { type Invariant, shownIdSql } from './invariant.ts';
import { EVENTS_KEPT_SINCE } from './servers.ts';

/** Work on volumes and snapshots is a task. */
const TASKS = `('volume', 'volume'), ('volume', 'volume_move'), ('snapshot', 'snapshot'),
  ('snapshot', 'snapshot_move')`;

export const ACTION_INVARIANTS: readonly Invariant[] = [
  {
    name: 'running actions have work',
    description: 'each running action has an operation or a task behind it, and only one of a server runs',
    source: `actions where status = 'running'`,
    violations: `select a.id from actions a
      where a.status = 'running'
        and case when a.resource_kind = 'server'
                 then not exists (select from operations o where o.action_id = a.id)
                 else not exists (select from tasks t join (values ${TASKS}) as k (resource, task)
                                      on k.task = t.kind
                                   where t.subject = a.resource_id and k.resource = a.resource_kind) end`,
  },
  {
    name: 'work has a running action',
    description: 'each operation has its running action, and so does each snapshot being created',
    source: 'operations',
    violations: `select o.id from operations o
        left join actions a on a.id = o.action_id and a.status = 'running' and a.resource_id = o.server_id
       where a.id is null
      union all
      select n.id from snapshots n
       where n.status = 'creating'
         and not exists (select from actions a where a.resource_id = n.id and a.status = 'running'
                          and a.command = 'snapshot.create')`,
  },
  {
    name: 'ended actions have one event',
    description: 'each action that has ended has exactly one event, of its status',
    source: `actions where status <> 'running'`,
    violations: `select a.id from actions a join ${EVENTS_KEPT_SINCE} on kept.customer_id = a.customer_id
        left join (select customer_id, data -> 'action' ->> 'id' as shown, count(*) as n, min(type) as type
                     from events where type in ('action.success', 'action.error') group by 1, 2) as e
          on e.customer_id = a.customer_id and e.shown = ${shownIdSql('act_', 'a.id')}
       where a.status <> 'running' and a.finished_at >= kept.since
         and (e.n is distinct from 1 or e.type <> 'action.' || a.status)`,
  },
  {
    name: 'actions are complete',
    description: 'a successful action has been through all its steps, and no action through more than it has',
    source: 'actions',
    violations: `select id from actions
      where cardinality(step_times) > cardinality(steps) or cardinality(step_times) = 0
         or (status = 'success' and (progress <> 100 or cardinality(step_times) <> cardinality(steps)))`,
  },
];
