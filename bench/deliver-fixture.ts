/** Customers with webhooks, and events for them. */

import type { Service } from '../src/domain/context.ts';
import { fanOutEvents } from '../src/domain/events/fan-out.ts';
import { newId, newPublicNumber } from '../src/kernel/ids.ts';
import { createLogger } from '../src/kernel/logger.ts';
import type { KeyRing } from '../src/kernel/secrets.ts';
import type { Sql } from '../src/kernel/sql.ts';
import { SEALED } from '../src/spec/sealed.ts';
import type { OpenDatabase } from '../src/store/db.ts';

/** The size of a typical server event. */
export const SAMPLE_SERVER = {
  id: 'srv_aaaqk3m7qzb5x2l6v4t7n7wyja',
  object: 'server',
  name: 'web-1',
  status: 'running',
  plan: 's1',
  region: 'par',
  image: 'img_aaaqk3m7qzb5x2l6v4t7n7wyja',
  ipv4: { address: '198.51.100.7', gateway: '198.51.100.1', rdns: null },
  ipv6: { address: '2001:db8:1:2::1', prefix: '2001:db8:1:2::/64', rdns: null },
  ssh_keys: ['k_aaaqk3m7qzb5x2l6v4t7n7wyja'],
  tags: ['web', 'eu'],
  labels: { role: 'web', tier: 'front' },
  billing_months: 1,
  auto_renew: true,
  paid_until: '2026-09-30T12:00:00Z',
  price_usd_cycle: 5,
  suspended_reason: null,
  created_at: '2026-08-31T12:00:00Z',
  updated_at: '2026-08-31T12:01:10Z',
};

/** Inserts customers with `each` webhooks. Returns the customers' ids. */
export async function insertCustomers(
  db: OpenDatabase,
  options: {
    readonly customers: number;
    readonly each: number;
    readonly url: string;
    readonly keys: KeyRing;
  },
): Promise<string[]> {
  const now = new Date();
  const ids = Array.from({ length: options.customers }, () => newId(now));
  const hooks = ids.flatMap((customerId) =>
    Array.from({ length: options.each }, () => ({ id: newId(now), customerId })),
  );
  const secret = 'whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
  await db.run(
    `insert into customers (id, public_no, email, email_key, password_hash, created_at)
     select c.id, c.no, c.id || '@example.org', c.id || '@example.org', '', now()
       from unnest($1::uuid[], $2::bigint[]) as c (id, no)`,
    [ids, ids.map(() => newPublicNumber())],
  );
  await db.run(
    `with created as (
       insert into webhooks (id, customer_id, url, events, active, secret_sealed, secret_hint, created_at)
       select h.id, h.customer_id, $3, '{*}', true, h.sealed, 'aaaa', now()
         from unnest($1::uuid[], $2::uuid[], $4::text[]) as h (id, customer_id, sealed) returning id)
     insert into webhook_queues (webhook_id) select id from created`,
    [
      hooks.map(({ id }) => id),
      hooks.map(({ customerId }) => customerId),
      options.url,
      hooks.map(({ id }) => options.keys.seal(SEALED.webhookSecret, id, secret)),
    ],
  );
  return ids;
}

/** Inserts `each` events per customer, not fanned out yet. */
export async function insertEvents(db: Sql, customers: readonly string[], each: number): Promise<void> {
  await db.run(
    `insert into events (id, customer_id, type, data, created_at)
     select new_id(now()), c.id, 'server.running', $2, now()
       from unnest($1::uuid[]) as c (id), generate_series(1, $3)`,
    [customers, JSON.stringify({ server: SAMPLE_SERVER }), each],
  );
}

export async function fanOutAll(db: OpenDatabase): Promise<void> {
  while ((await fanOutEvents({ db, clock: { now: () => new Date() } })) > 0);
}

/** Returns the part of the service that the webhook jobs need. */
export function createBenchService(db: OpenDatabase, keys: KeyRing): Service {
  const parts = { db, reads: db, keys, clock: { now: () => new Date() }, log: createLogger('silent') };
  return { ...parts, wake: () => undefined } as unknown as Service;
}
