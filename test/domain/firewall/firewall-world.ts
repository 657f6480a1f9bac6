/** Customers with servers in any status, without machines. */
import assert from 'node:assert/strict';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { formatId, newId, newPublicNumber } from '../../../src/kernel/ids.ts';
import type { ServerStatus } from '../../../src/spec/states.ts';
import { R1, S1 } from '../../support/fixtures.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

export const ALLOW_WEB = {
  direction: 'in',
  proto: 'tcp',
  port: '80,443',
  source: '0.0.0.0/0',
  action: 'accept',
} as const;

/** Returns the failure's code and extras. */
export async function refused(attempt: Promise<unknown>): Promise<{ code: string; extras: object }> {
  const error: unknown = await attempt.then(
    () => assert.fail('the attempt did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  return { code: error.code, extras: error.extras };
}

export class FirewallWorld {
  readonly world: TestService;

  private constructor(world: TestService) {
    this.world = world;
  }

  static async open(): Promise<FirewallWorld> {
    const world = await startTestService();
    await world.fixtures.addPlans(['par'], [S1, R1]);
    return new FirewallWorld(world);
  }

  async customer(): Promise<CustomerActor> {
    return await this.world.fixtures.addCustomer();
  }

  /** Inserts a server row and returns its internal id. `suspended` means suspended by the operator. */
  async serverRow(actor: CustomerActor, status: ServerStatus = 'running', plan = S1.id): Promise<string> {
    const id = newId(this.world.clock.now());
    const made = status === 'provisioning' || status === 'installing';
    await this.world.db.run(
      `insert into servers
         (id, public_no, customer_id, name, status, suspended_reason, plan_id, region_id, image_id,
          ram_mb, disk_gb, billing_months, price_cents_month, price_cents_cycle, anchor_day, paid_until,
          first_run_at, created_at, updated_at)
       select $id, $publicNo, $customerId, 'a', $status, $reason, p.id, 'par',
              (select id from images limit 1), p.ram_mb, p.disk_gb, 1, p.price_cents_month,
              p.price_cents_month, 1, $now, $firstRunAt, $now, $now
         from plans p where p.id = $plan`,
      {
        id,
        publicNo: newPublicNumber(),
        customerId: actor.customerId,
        status,
        reason: status === 'suspended' ? 'operator' : null,
        plan,
        now: this.world.clock.now(),
        firstRunAt: made ? null : new Date(),
      },
    );
    return id;
  }

  /** Inserts a server row and returns its public id. */
  async server(actor: CustomerActor, status?: ServerStatus, plan?: string): Promise<string> {
    return formatId('server', await this.serverRow(actor, status, plan));
  }

  /** Removes the pending filter tasks and returns the public ids of their servers. */
  async takeFilterTasks(): Promise<string[]> {
    const rows = await this.world.db.rows<{ subject: string }>(
      `delete from tasks where kind = 'filter' returning subject`,
    );
    return rows.map(({ subject }) => formatId('server', subject)).sort();
  }

  /** Returns the actions of the customer's audit log with their resources, oldest first. */
  async auditLines(actor: CustomerActor): Promise<string[]> {
    const rows = await this.world.db.rows<{ line: string }>(
      `select action || ' ' || resource as line
         from audit_events where customer_id = $1 order by created_at, ctid`,
      [actor.customerId],
    );
    return rows.map(({ line }) => line);
  }
}
