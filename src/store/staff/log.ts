/** The staff log: each act is written before it begins, and completed with its result. */
import type { Sql } from '../../kernel/sql.ts';
import { conditionsFor } from '../parameters.ts';

export type StaffSurface = 'console' | 'api' | 'command';

export interface StaffLogRow {
  readonly id: string;
  readonly staff_id: string | null;
  readonly email: string | null;
  readonly surface: StaffSurface;
  readonly operation: string;
  readonly target: string | null;
  readonly reason: string | null;
  /** The input without the reason and without secrets. */
  readonly details: object | null;
  readonly result: 'started' | 'ok' | 'error' | 'denied' | 'requested';
  readonly fault: string | null;
  readonly request_id: string;
  readonly created_at: Date;
}

export interface NewStaffLogEntry {
  readonly id: string;
  readonly staffId: string | null;
  readonly surface: StaffSurface;
  readonly operation: string;
  readonly target: string | null;
  readonly reason: string | null;
  readonly details: object | null;
  /** Unique for a person; null: the request cannot be repeated. */
  readonly submission: string | null;
  readonly result: StaffLogRow['result'];
  readonly requestId: string;
  readonly now: Date;
}

/** Returns false when the person has made this request before. */
export async function insertStaffLog(tx: Sql, row: NewStaffLogEntry): Promise<boolean> {
  const inserted = await tx.run(
    `insert into staff_log
       (id, staff_id, surface, operation, target, reason, details, submission, result, request_id, created_at)
     values ($id, $staffId, $surface, $operation, $target, $reason, $details, $submission, $result,
             $requestId, $now)
     on conflict (staff_id, submission) do nothing`,
    row,
  );
  return inserted === 1;
}

/** A refused request may be sent again. */
export async function completeStaffLog(
  tx: Sql,
  row: {
    readonly id: string;
    readonly result: 'ok' | 'error' | 'requested';
    readonly fault: string | null;
    readonly mayRepeat: boolean;
  },
): Promise<void> {
  await tx.run(
    `update staff_log set result = $result, fault = $fault,
            submission = case when $mayRepeat::boolean then null else submission end
      where id = $id`,
    row,
  );
}

/** An act that gave money: the amount, and how often it can be used. */
export interface GivenRow {
  readonly target: string | null;
  readonly amount: string | null;
  readonly uses: string | null;
}

/**
 * The acts of a person that gave money, may have, or are about to. Those that a second person approved are
 * left out.
 */
export async function listGiven(
  tx: Sql,
  query: {
    readonly staffId: string;
    readonly operations: readonly string[];
    /** Ids begin with the time. */
    readonly sinceId: string;
    readonly exceptId: string;
  },
): Promise<GivenRow[]> {
  return await tx.rows<GivenRow>(
    `select target, details->>'amount_usd' as amount, details->>'max_uses' as uses from staff_log
      where staff_id = $staffId and id >= $sinceId and id <> $exceptId and operation = any($operations)
        and (result in ('started', 'ok') or fault = 'internal') and details->>'approved_by' is null`,
    query,
  );
}

/** Omitted fields match everything. */
export interface StaffLogFilter {
  readonly staffId?: string;
  readonly target?: string;
  readonly operation?: string;
  /** Only entries older than this one; ids begin with the time. */
  readonly beforeId?: string;
  /** Without acts on legal orders. */
  readonly notLegal?: true;
}

const CONDITIONS = {
  staffId: 'l.staff_id = $staffId',
  target: 'l.target = $target',
  operation: 'l.operation = $operation',
  beforeId: 'l.id < $beforeId',
  notLegal: `l.operation not like 'legal_orders.%' and $notLegal::bool`,
};

/** Newest first. */
export async function listStaffLog(tx: Sql, filter: StaffLogFilter, limit: number): Promise<StaffLogRow[]> {
  return await tx.rows<StaffLogRow>(
    `select l.id, l.staff_id, s.email, l.surface, l.operation, l.target, l.reason, l.details, l.result,
            l.fault, l.request_id, l.created_at
       from staff_log l left join staff s on s.id = l.staff_id
      where ${conditionsFor(filter, CONDITIONS)} order by l.id desc limit $limit`,
    { ...filter, limit },
  );
}
