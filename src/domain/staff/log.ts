/** The staff log as staff read it. */
import { formatId, ID_PREFIXES, parseId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { listStaffLog as listRows, type StaffLogRow } from '../../store/staff/log.ts';
import type { Service } from '../context.ts';

export interface StaffLogView {
  readonly object: 'staff_log_entry';
  readonly id: string;
  /** Null: a command on the machine, or a person who was deleted. */
  readonly staff: string | null;
  readonly email: string | null;
  readonly surface: StaffLogRow['surface'];
  readonly operation: string;
  readonly target: string | null;
  readonly reason: string | null;
  /** The input without the reason and without secrets. */
  readonly details: object | null;
  readonly result: StaffLogRow['result'];
  /** The code of the error. */
  readonly fault: string | null;
  readonly request_id: string;
  readonly created_at: string;
}

export interface StaffLogQuery {
  readonly staff?: string;
  readonly target?: string;
  readonly operation?: string;
  /** `slg_…`: only older entries. */
  readonly before?: string;
  readonly limit: number;
  /** For people who read no legal orders: without acts on them, and without reasons that name one. */
  readonly hidesLegal?: boolean;
}

/** Newest first, and whether there are more. A malformed id matches nothing. */
export async function readStaffLog(
  { db }: Pick<Service, 'db'>,
  { staff, before, limit, target, operation, hidesLegal = false }: StaffLogQuery,
): Promise<{ readonly entries: readonly StaffLogView[]; readonly hasMore: boolean }> {
  const staffId = staff === undefined ? undefined : parseId('staff', staff);
  const beforeId = before === undefined ? undefined : parseId('staffLog', before);
  if ((staff && !staffId) || (before && !beforeId)) return { entries: [], hasMore: false };
  const filter = {
    ...(staffId && { staffId }),
    ...(beforeId && { beforeId }),
    ...(target && { target }),
    ...(operation && { operation }),
    ...(hidesLegal && { notLegal: true as const }),
  };
  const rows = await listRows(db, filter, limit + 1);
  const entries = rows.slice(0, limit).map(toView);
  return { entries: hidesLegal ? entries.map(withoutLegal) : entries, hasMore: rows.length > limit };
}

function withoutLegal(entry: StaffLogView): StaffLogView {
  const namesOrder = entry.reason?.includes(ID_PREFIXES.legalOrder) ?? false;
  return namesOrder ? { ...entry, reason: 'Only an owner can read this reason.' } : entry;
}

function toView(row: StaffLogRow): StaffLogView {
  return {
    object: 'staff_log_entry',
    id: formatId('staffLog', row.id),
    staff: row.staff_id && formatId('staff', row.staff_id),
    email: row.email,
    surface: row.surface,
    operation: row.operation,
    target: row.target,
    reason: row.reason,
    details: row.details,
    result: row.result,
    fault: row.fault,
    request_id: row.request_id,
    created_at: formatRfc3339(row.created_at),
  };
}
