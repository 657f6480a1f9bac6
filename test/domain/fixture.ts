/** Runs operator functions in a test: a scratch database, a clock, and a list of registered hosts. */
import type { Service } from '../../src/domain/context.ts';
import type { HostShape } from '../../src/domain/inventory/hosts.ts';
import { OffsetClock } from '../../src/kernel/clock.ts';
import { newId, newPublicNumber } from '../../src/kernel/ids.ts';
import { OperatorError } from '../../src/kernel/operator-error.ts';
import { QUOTAS } from '../../src/spec/limits.ts';
import type { OpenDatabase } from '../../src/store/db.ts';
import { openScratchDatabase } from '../support/database.ts';

export interface DomainFixture {
  readonly db: OpenDatabase;
  readonly clock: OffsetClock;
  /** The part of a service that these functions use. */
  readonly service: Service;
  /** Hosts registered with the compute driver. */
  readonly registered: HostShape[];
  readonly register: (hosts: readonly HostShape[]) => Promise<void>;
  /** Actions in the audit log, oldest first. */
  auditedActions(): Promise<string[]>;
  close(): Promise<void>;
}

export async function openDomainFixture(): Promise<DomainFixture> {
  const { db, close } = await openScratchDatabase();
  const clock = new OffsetClock();
  const settings = {
    mode: 'sandbox',
    baseUrl: 'http://panel.test',
    tokenPrefix: 'skerry',
    rateLockMinutes: 60,
    addressRestDays: 7,
    graceDays: 14,
    negativeBalanceDays: 7,
    shutdownDeadlineS: 60,
    throttleMbps: 10,
    copySnapshots: false,
    mailingsPerMinute: 60,
    webhookAllowLoopback: false,
    quotas: QUOTAS,
  };
  const registered: HostShape[] = [];
  return {
    db,
    clock,
    service: {
      db,
      clock,
      settings,
      blobs: {},
      compute: { hosts: null },
      wake: () => undefined,
    } as unknown as Service,
    registered,
    register: async (hosts) => {
      registered.push(...hosts);
    },
    auditedActions: async () => {
      const rows = await db.rows<{ action: string; actors: number }>(
        `select action, num_nonnulls(actor_token, actor_session) as actors
           from audit_events order by created_at, id`,
      );
      if (rows.some((row) => row.actors > 0)) throw new Error('an operator action has an actor');
      return rows.map((row) => row.action);
    },
    close,
  };
}

/** Returns the error message of `work`. */
export async function refusalMessage(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
  throw new Error('the operation did not fail');
}

/** Inserts a customer without credentials, for tests that only need an account. */
export async function insertTestCustomer(db: OpenDatabase, email: string): Promise<string> {
  const id = newId(new Date());
  await db.run(
    `with made as (
       insert into customers (id, public_no, email, email_key, password_hash, created_at)
       values ($1, $2, $3, lower($3), 'none', now()) returning id)
     insert into balances (customer_id) select id from made`,
    [id, newPublicNumber(), email],
  );
  return id;
}

/** Inserts a running server of this plan, complete enough for the catalog. */
export async function insertTestServer(
  db: OpenDatabase,
  row: { customerId: string; planId: string; regionId: string },
): Promise<void> {
  await db.run(
    `insert into servers
       (id, public_no, customer_id, name, status, plan_id, region_id, image_id, ram_mb, disk_gb,
        billing_months, price_cents_month, price_cents_cycle, anchor_day, paid_until, created_at, updated_at)
     select $1, $2, $3, 'a', 'running', p.id, $5, (select id from images limit 1), p.ram_mb, p.disk_gb, 1,
            p.price_cents_month, p.price_cents_month, 1, now(), now(), now()
       from plans p where p.id = $4`,
    [newId(new Date()), newPublicNumber(), row.customerId, row.planId, row.regionId],
  );
}
