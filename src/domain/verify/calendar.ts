/** Servers and the calendar: what is due is looked at, and what is suspended says since when and until when. */
import type { Invariant } from './invariant.ts';

/** The calendar puts a server off for a day at most; a service that is down for longer has more to tell than this. */
const LATE = `interval '2 days'`;
const NOW = `(select clock_timestamp() + clock_offset_ms * interval '1 ms' from service)`;

export const CALENDAR_INVARIANTS: readonly Invariant[] = [
  {
    name: 'the calendar knows every server',
    description: 'each server that has run has a moment at which it is billed, and no other has one',
    source: 'servers',
    violations: `select id from servers
      where (bill_at is not null) <> (first_run_at is not null and status <> 'destroying')`,
  },
  {
    name: 'cycles end in time',
    description:
      'no server goes on for days after what was paid, nor waits for its end after the grace period, unless renewals are switched off',
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
      'each suspended server, and no other, has its beginning, its former state and the end of its grace period',
    source: 'servers',
    violations: `select id from servers
      where case when status = 'suspended' then num_nulls(suspended_at, resume_to, destroy_at) > 0
                 else num_nonnulls(suspended_at, resume_to, destroy_at, warned_days) > 0 end`,
  },
  {
    name: 'held servers stay',
    description: 'no server under a legal hold is being destroyed',
    source: 'servers',
    violations: `select id from servers where held_at is not null and status = 'destroying'`,
  },
  {
    name: 'frozen servers stand still',
    description:
      'a server that the operator froze is suspended for that reason as soon as nothing is done to it',
    source: 'servers',
    violations: `select id from servers s
      where frozen_at is not null and status in ('running', 'stopped', 'suspended')
        and suspended_reason is distinct from 'operator'
        and not exists (select from operations o where o.server_id = s.id)`,
  },
];
