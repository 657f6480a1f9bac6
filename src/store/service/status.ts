/** Counts for the operator's status report. Each statement uses an index, or scans one table once. */
import { firstIdAt } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { CoinCode } from '../../spec/coins.ts';
import type { ServerStatus } from '../../spec/states.ts';
import type { OperationKind, OperationStep } from '../servers/operations.ts';

export async function countServersByStatus(tx: Sql): Promise<{ status: ServerStatus; n: bigint }[]> {
  // The condition of the index from which they are counted.
  return await tx.rows(
    'select status, count(*) as n from servers where public_no > 0 group by status order by n desc, status',
  );
}

export interface WorkCounts {
  readonly frozen_servers: bigint;
  readonly held_servers: bigint;
  readonly frozen_customers: bigint;
  readonly held_topups: bigint;
  /** With a refund that is approved and has no transaction recorded. */
  readonly unsent_topups: bigint;
  readonly operations: bigint;
  /** Servers that the calendar should have processed by then. */
  readonly late_servers: bigint;
  /** Events that should have been numbered, and webhooks and mails that should have been sent, by then. */
  readonly late_events: bigint;
  readonly late_webhooks: bigint;
  readonly late_mails: bigint;
  /** Queued mails with at least one failed attempt. */
  readonly faulty_mails: bigint;
  /** Those for which the mail server did not answer. The others were deferred for their recipients. */
  readonly unreachable_mails: bigint;
  readonly waiting_mails: bigint;
}

/** Counts pending work. Items due before `overdueBefore` count as late. */
export async function countWork(tx: Sql, overdueBefore: Date): Promise<WorkCounts | undefined> {
  return await tx.row<WorkCounts>(
    `select (select count(*) from servers where frozen_at is not null) as frozen_servers,
            (select count(*) from servers where hold_order is not null) as held_servers,
            (select count(*) from customers where frozen_at is not null) as frozen_customers,
            (select count(*) from topups where credit_held) as held_topups,
            (select count(distinct topup_id) from deposits
              where refund_address is not null and refund_txid is null) as unsent_topups,
            (select count(*) from operations) as operations,
            (select count(*) from servers where bill_at < $1) as late_servers,
            (select count(*) from events where seq is null and created_at < $1) as late_events,
            (select count(*) from webhook_queues where due_at < $1) as late_webhooks,
            (select count(*) from mails where due_at < $1) as late_mails,
            (select count(*) from mails where due_at is not null and attempts > 0) as faulty_mails,
            (select count(*) from mails where due_at is not null and fault = 'unreachable')
              as unreachable_mails,
            (select count(*) from mails where due_at is not null) as waiting_mails`,
    [overdueBefore],
  );
}

export interface ReversedTopups {
  readonly n: bigint;
  readonly cents: bigint;
  /** The latest ones. */
  readonly ids: readonly string[];
}

/** Sums the invoices of which a credit was taken back since then, and not credited again. */
export async function sumReversedTopups(
  tx: Sql,
  { since, shown }: { readonly since: Date; readonly shown: number },
): Promise<ReversedTopups | undefined> {
  return await tx.row<ReversedTopups>(
    `select count(*) as n, coalesce(sum(reversed_cents), 0)::bigint as cents,
            coalesce((array_agg(id order by reversed_at desc))[:$2], '{}') as ids
       from topups where reversed_at >= $1`,
    [since, shown],
  );
}

export interface StuckOperationRow {
  readonly server_id: string;
  readonly kind: OperationKind;
  readonly step: OperationStep;
  readonly host: string | null;
  readonly attempts: number;
  readonly created_at: Date;
  readonly last_fault: string | null;
}

/** Lists operations with at least `attempts` consecutive failures or started before `since`, oldest first. A
 * move takes as long as its disks are large. */
export async function listStuckOperations(
  tx: Sql,
  stuck: { readonly attempts: number; readonly since: Date; readonly limit: number },
): Promise<StuckOperationRow[]> {
  return await tx.rows<StuckOperationRow>(
    `select o.server_id, o.kind, o.step, coalesce(h.name, m.name) as host, o.attempts, o.created_at,
            o.last_fault
       from operations o join servers s on s.id = o.server_id
       left join hosts h on h.id = s.host_id
       left join machines m on m.id = s.machine_id
      where o.attempts >= $1 or (o.created_at < $2 and o.kind <> 'move') order by o.created_at limit $3`,
    [stuck.attempts, stuck.since, stuck.limit],
  );
}

/** Counts tasks with at least `attempts` consecutive failures, by kind. */
export async function countFailingTasks(tx: Sql, attempts: number): Promise<{ kind: string; n: bigint }[]> {
  return await tx.rows(
    'select kind, count(*) as n from tasks where attempts >= $1 group by kind order by kind',
    [attempts],
  );
}

/** Counts work that nothing tries again until someone retries it or it is requested again. */
export async function countGivenUp(tx: Sql): Promise<{ queue: 'task' | 'file'; n: bigint }[]> {
  return await tx.rows(
    `select * from (select 'task' as queue, count(*) as n from tasks where due_at is null
                    union all select 'file', count(*) from backend_files where due_at is null) as counted
      where n > 0`,
  );
}

export interface FailingChainRow {
  readonly code: CoinCode;
  readonly failures: number;
  readonly read_at: Date | null;
  readonly last_fault: string | null;
}

/**
 * Lists chains with at least `failures` consecutive failed reads, the time of the last read, and the last
 * error.
 */
export async function listFailingChains(tx: Sql, failures: number): Promise<FailingChainRow[]> {
  return await tx.rows<FailingChainRow>(
    'select code, failures, read_at, last_fault from coins where failures >= $1 order by code',
    [failures],
  );
}

/** Counts active webhooks by the id of the key that seals their signing secret. */
export async function countWebhooksByKey(tx: Sql): Promise<{ key_id: string; n: bigint }[]> {
  return await tx.rows(
    `select split_part(secret_sealed, '.', 1) as key_id, count(*) as n from webhooks where active
      group by key_id order by key_id`,
  );
}

/**
 * Lists which of these coins have an invoice and were not read completely since then, with their last read.
 */
export async function listStaleChains(
  tx: Sql,
  { coins, since }: { readonly coins: readonly CoinCode[]; readonly since: Date },
): Promise<{ code: CoinCode; read_at: Date | null }[]> {
  return await tx.rows(
    `select code, read_at from coins
      where code = any($1) and (read_at is null or read_at < $2)
        and exists (select from topups where topups.coin = coins.code and created_at < $2)
      order by code`,
    [coins, since],
  );
}

/** Counts payments included before `since` that a second node still does not report. */
export async function countDisputedPayments(
  tx: Sql,
  since: Date,
): Promise<{ coin: CoinCode; n: bigint; credited: bigint }[]> {
  return await tx.rows(
    `select coin, count(*) as n, count(credited_cents) as credited from deposits
      where state = 'included' and not agreed and included_at < $1
      group by coin order by coin`,
    [since],
  );
}

/**
 * Counts unpaid top-ups since then, by coin, above `few`. An id begins with its time, so older rows are not
 * read.
 */
export async function countUnpaidByCoin(
  tx: Sql,
  { since, few }: { readonly since: Date; readonly few: number },
): Promise<{ coin: CoinCode; n: bigint }[]> {
  return await tx.rows(
    `select coin, count(*) as n from topups where id >= $1 and status in ('pending', 'expired')
      group by coin having count(*) > $2 order by coin`,
    [firstIdAt(since), few],
  );
}

/** Counts payments that were in a block at least `byHours` before their top-up was created. */
export async function countPaymentsBeforeTopup(
  tx: Sql,
  { since, byHours }: { readonly since: Date; readonly byHours: number },
): Promise<{ coin: CoinCode; n: bigint }[]> {
  return await tx.rows(
    `select d.coin, count(*) as n from topups p join deposits d on d.topup_id = p.id
      where p.id >= $1 and d.included_at < p.created_at - $2 * interval '1 hour'
      group by d.coin order by d.coin`,
    [firstIdAt(since), byHours],
  );
}
