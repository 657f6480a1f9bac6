/** Invariants of the records of requests. */
import type { Invariant } from './invariant.ts';

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
];
