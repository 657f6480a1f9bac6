/** Invariants of the records of requests, event numbers, webhook queues, and alerts. */

import { LIMITS } from '../../spec/limits.ts';
import { SEALED_COLUMNS } from '../../spec/sealed.ts';
import { unboundSql } from '../../store/service/sealed.ts';
import type { Invariant } from './invariant.ts';

const SEALED_VALUES = SEALED_COLUMNS.map(
  ({ table, column, row }) =>
    `select '${table} ' || ${row ?? `''`}::text as id, ${column} as sealed from ${table}
      where ${column} is not null`,
).join(' union all ');

export const RECORD_INVARIANTS: readonly Invariant[] = [
  {
    name: 'stored responses are complete',
    description: 'every idempotency key has its fingerprint, its sealed response, and its request id',
    source: 'idempotency',
    violations: `select customer_id from idempotency
      where answer is null or octet_length(answer) < 28 or octet_length(key_digest) <> 32
         or fingerprint not like '_%._%' or request_id not like 'req\\_%'`,
  },
  {
    name: 'audit actors are plausible',
    description: 'no audit row has both a token and a session, or an actor without a customer',
    source: 'audit_events',
    violations: `select id from audit_events
      where (actor_token is not null and actor_session is not null)
         or (customer_id is null and (actor_token is not null or actor_session is not null))`,
  },
  {
    name: 'limited tokens count their servers',
    description: 'every limited token counts the servers that it or a token of its own created',
    source: 'api_tokens where limit_chain is not null',
    violations: `select t.id from api_tokens t where t.servers_count <>
      (select count(*) from servers s where s.customer_id = t.customer_id and t.id = any(s.limited_by))`,
  },
  {
    name: 'limits of tokens are complete',
    description: 'every limited token has the limits of each token of its chain, and is the last of them',
    source: 'api_tokens where limit_chain is not null',
    violations: `select id from api_tokens
      where (limit_chain is null) <> (limits is null)
         or jsonb_array_length(limits) <> cardinality(limit_chain)
         or limit_chain[cardinality(limit_chain)] <> id`,
  },
  {
    name: 'sealed values are bound',
    description: 'every sealed value opens only in its table, row, and column; the service binds older ones',
    source: `(${SEALED_VALUES}) as sealed_values`,
    violations: `select id from (${SEALED_VALUES}) as v where ${unboundSql('sealed')}`,
  },
];

export const WEBHOOK_INVARIANTS: readonly Invariant[] = [
  {
    name: 'event numbers are within their counter',
    description: "every event number is from 1 to its customer's counter",
    source: 'events where seq is not null',
    violations: `select e.id from events e left join event_counters c using (customer_id)
      where e.seq is not null and (e.seq < 1 or e.seq > coalesce(c.last_seq, 0))`,
  },
  {
    name: 'pending deliveries are scheduled',
    description: 'every pending delivery belongs to a webhook whose queue is due no later',
    source: 'deliveries where due_at is not null',
    violations: `select d.id from deliveries d left join webhook_queues q using (webhook_id)
      where d.due_at is not null and (q.due_at is null or q.due_at > d.due_at + interval '1 minute')`,
  },
  {
    name: 'attempts are counted',
    description: `pending deliveries are first attempts; no attempt is above ${LIMITS.webhookAttemptsMax}`,
    source: 'deliveries',
    violations: `select d.id from deliveries d
      where d.attempt > ${LIMITS.webhookAttemptsMax} or (d.status = 'pending' and d.attempt > 1)`,
  },
];

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
