/** Numbers of events, and queues of webhooks. */
import { LIMITS } from '../../spec/limits.ts';
import type { Invariant } from './invariant.ts';

export const WEBHOOKS: readonly Invariant[] = [
  {
    name: 'numbers of events were given',
    proves: "no event has a number beyond its customer's counter",
    checks: 'events where seq is not null',
    broken: `select e.id from events e left join event_counters c using (customer_id)
      where e.seq is not null and (e.seq < 1 or e.seq > coalesce(c.last_seq, 0))`,
  },
  {
    name: 'what is to be sent will be',
    proves: 'a delivery that waits is of a webhook whose queue is due no later',
    checks: 'deliveries where due_at is not null',
    broken: `select d.id from deliveries d left join webhook_queues q using (webhook_id)
      where d.due_at is not null and (q.due_at is null or q.due_at > d.due_at + interval '1 minute')`,
  },
  {
    name: 'attempts are counted',
    proves: `an attempt after the first has one before it, and there are at most ${LIMITS.webhookAttemptsMax}`,
    checks: 'deliveries',
    broken: `select d.id from deliveries d
      where d.attempt > ${LIMITS.webhookAttemptsMax} or (d.status = 'pending' and d.attempt > 1)`,
  },
];
