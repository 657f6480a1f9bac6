/** The mark of a restore in the service row: until `skerryd recover`, the service is in recovery. */
import type { Sql } from '../../kernel/sql.ts';
import { isBehindMarks } from '../topups/marks.ts';

export interface Restoration {
  readonly restored_at: Date;
  /** When the backup was made. */
  readonly restored_from: Date;
  /** Whether address marks of this database were found outside it. */
  readonly restored_with_marks: boolean;
}

/** Marks the database as restored, in the transaction of the restore. */
export async function saveRestoration(tx: Sql, restoration: Restoration): Promise<void> {
  await tx.run(
    `update service set restored_at = $1, restored_from = $2, restored_with_marks = $3,
                        rules_version = rules_version + 1`,
    [restoration.restored_at, restoration.restored_from, restoration.restored_with_marks],
  );
}

/** Returns undefined if the database was not restored, or the recovery has ended. */
export async function findRestoration(sql: Sql): Promise<Restoration | undefined> {
  return await sql.row<Restoration>(
    `select restored_at, restored_from, restored_with_marks from service where restored_at is not null`,
  );
}

export async function endRestoration(tx: Sql): Promise<void> {
  await tx.run('update service set restored_at = null, rules_version = rules_version + 1');
}

/** Whether every change is refused: the database was restored, or is behind the marks of a machine. */
export async function isInRecovery(sql: Sql): Promise<boolean> {
  return (await findRestoration(sql)) !== undefined || (await isBehindMarks(sql));
}
