/** Invariants of the billing calendar: due servers are billed, and suspended ones have a start and an end. */
import type { Invariant } from './invariant.ts';

/** The calendar postpones a server by one day at most. A longer delay means that the service was down. */
const LATE = `interval '2 days'`;
const NOW = `(select clock_timestamp() + clock_offset_ms * interval '1 ms' from service)`;

export const CALENDAR_INVARIANTS: readonly Invariant[] = [
  {
    name: 'the calendar has every server',
    description: 'each server that has run has a next billing time, and no other server has one',
    source: 'servers',
    violations: `select id from servers
      where (bill_at is not null) <> (first_run_at is not null and status <> 'destroying')`,
  },
  {
    name: 'cycles end in time',
    description:
      'while renewals are on, no server runs for days past its paid time or stays past its grace period',
    source: 'servers',
    violations: `select id from servers s
      where not exists (select from switches where name = 'renewals' and not on_)
        and (status in ('running', 'stopped') and greatest(bill_at, ${NOW}) > paid_until + ${LATE}
               and coalesce(awaiting_since, paid_until) + ${LATE} < greatest(bill_at, ${NOW})
               and not exists (select from operations o where o.server_id = s.id)
             or status = 'suspended' and held_at is null and destroy_at + ${LATE} < ${NOW}
               and paid_until + ${LATE} < ${NOW} and bill_at + ${LATE} < ${NOW})`,
  },
  {
    name: 'suspended servers can resume or end',
    description:
      'suspended servers, and no others, have a suspension time, a previous state, and a grace period end',
    source: 'servers',
    violations: `select id from servers
      where case when status = 'suspended' then num_nulls(suspended_at, resume_to, destroy_at) > 0
                 else num_nonnulls(suspended_at, resume_to, destroy_at, warned_days) > 0 end`,
  },
  {
    name: 'legal holds prevent deletion',
    description: 'no server under a legal hold is being deleted',
    source: 'servers',
    violations: `select id from servers where held_at is not null and status = 'destroying'`,
  },
  {
    name: 'frozen servers are suspended',
    description: 'a server that the operator froze is suspended for that reason once no operation runs on it',
    source: 'servers',
    violations: `select id from servers s
      where frozen_at is not null and status in ('running', 'stopped', 'suspended')
        and suspended_reason is distinct from 'operator'
        and not exists (select from operations o where o.server_id = s.id)`,
  },
];
