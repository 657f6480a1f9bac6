/** Files of abuse reports. Names and contents are sealed. */
import type { Sql } from '../../kernel/sql.ts';
import type { AbuseFileType } from '../../spec/staff/abuse.ts';
import { parametersFor } from '../parameters.ts';

export interface AbuseFileRow {
  readonly id: string;
  readonly report_id: string;
  readonly name_sealed: string;
  readonly type: AbuseFileType;
  readonly size_bytes: number;
  readonly created_at: Date;
}

const COLUMNS = 'id, report_id, name_sealed, type, size_bytes, created_at';

/** Oldest first, without their content; their number is limited. */
export async function listAbuseFiles(sql: Sql, reportId: string): Promise<AbuseFileRow[]> {
  return await sql.rows<AbuseFileRow>(`select ${COLUMNS} from abuse_files where report_id = $1 order by id`, [
    reportId,
  ]);
}

export async function insertAbuseFile(
  tx: Sql,
  row: AbuseFileRow & { readonly content_sealed: string },
): Promise<void> {
  const columns = `${COLUMNS}, content_sealed`;
  await tx.run(`insert into abuse_files (${columns}) values (${parametersFor(columns)})`, row);
}

export async function findAbuseFile(
  sql: Sql,
  { reportId, id }: { readonly reportId: string; readonly id: string },
): Promise<(AbuseFileRow & { readonly content_sealed: string }) | undefined> {
  return await sql.row(
    `select ${COLUMNS}, content_sealed from abuse_files where report_id = $1 and id = $2`,
    [reportId, id],
  );
}

/** Returns false if the report has no such file. */
export async function deleteAbuseFile(
  tx: Sql,
  { reportId, id }: { readonly reportId: string; readonly id: string },
): Promise<boolean> {
  return (await tx.run('delete from abuse_files where report_id = $1 and id = $2', [reportId, id])) === 1;
}
