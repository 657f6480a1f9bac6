/** How the service stands, counted: what the operator looks at first. Each statement goes by an index, or once over one table. */
import type { Sql } from '../kernel/sql.ts';
import type { CoinCode } from '../spec/coins.ts';
import type { ServerStatus } from '../spec/states.ts';
import type { OperationKind, OperationStep } from './operations.ts';

export async function countServers(tx: Sql): Promise<{ status: ServerStatus; n: bigint }[]> {
  return await tx.rows('select status, count(*) as n from servers group by status order by n desc, status');
}

export interface Counts {
  readonly frozen_servers: bigint;
  readonly held_servers: bigint;
  readonly frozen_customers: bigint;
  readonly held_topups: bigint;
  readonly operations: bigint;
  /** Servers that the calendar should have looked at by then. */
  readonly late_servers: bigint;
  /** Events that should have been numbered, subscriptions and mails that should have been sent to, by then. */
  readonly late_events: bigint;
  readonly late_webhooks: bigint;
  readonly late_mails: bigint;
  /** Mails that were tried and wait. */
  readonly faulty_mails: bigint;
  readonly waiting_mails: bigint;
}

/** `late`: what was due before that has waited too long. */
export async function countWork(tx: Sql, late: Date): Promise<Counts | undefined> {
  return await tx.row<Counts>(
    `select (select count(*) from servers where frozen_at is not null) as frozen_servers,
            (select count(*) from servers where hold_order is not null) as held_servers,
            (select count(*) from customers where frozen_at is not null) as frozen_customers,
            (select count(*) from topups where credit_held) as held_topups,
            (select count(*) from operations) as operations,
            (select count(*) from servers where bill_at < $1) as late_servers,
            (select count(*) from events where seq is null and created_at < $1) as late_events,
            (select count(*) from webhook_queues where due_at < $1) as late_webhooks,
            (select count(*) from mails where due_at < $1) as late_mails,
            (select count(*) from mails where due_at is not null and attempts > 0) as faulty_mails,
            (select count(*) from mails where due_at is not null) as waiting_mails`,
    [late],
  );
}

export interface StuckRow {
  readonly server_id: string;
  readonly kind: OperationKind;
  readonly step: OperationStep;
  readonly host: string | null;
  readonly attempts: number;
  readonly created_at: Date;
  readonly last_fault: string | null;
}

/** Operations that failed so often in a row, or began before `since`, oldest first. */
export async function listStuck(
  tx: Sql,
  stuck: { readonly attempts: number; readonly since: Date; readonly limit: number },
): Promise<StuckRow[]> {
  return await tx.rows<StuckRow>(
    `select o.server_id, o.kind, o.step, coalesce(h.name, m.name) as host, o.attempts, o.created_at, o.last_fault
       from operations o join servers s on s.id = o.server_id
       left join hosts h on h.id = s.host_id
       left join machines m on m.id = s.machine_id
      where o.attempts >= $1 or o.created_at < $2 order by o.created_at limit $3`,
    [stuck.attempts, stuck.since, stuck.limit],
  );
}

/** Tasks that failed so often in a row, by kind. */
export async function countFailingTasks(tx: Sql, attempts: number): Promise<{ kind: string; n: bigint }[]> {
  return await tx.rows(
    'select kind, count(*) as n from tasks where attempts >= $1 group by kind order by kind',
    [attempts],
  );
}

/** Chains that could not be read so often in a row, and up to when each was. */
export async function listUnread(
  tx: Sql,
  failures: number,
): Promise<{ code: CoinCode; failures: number; read_at: Date | null }[]> {
  return await tx.rows('select code, failures, read_at from coins where failures >= $1 order by code', [
    failures,
  ]);
}

/** Active subscriptions by the id of the key that sealed their signing secret. */
export async function countSealedWebhooks(tx: Sql): Promise<{ key_id: string; n: bigint }[]> {
  return await tx.rows(
    `select split_part(secret_sealed, '.', 1) as key_id, count(*) as n from webhooks where active
      group by key_id order by key_id`,
  );
}
