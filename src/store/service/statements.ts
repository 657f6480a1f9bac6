/** The statistics of statements, and the settings of the database that an operator should know. */
import type { Sql } from '../../kernel/sql.ts';

export interface DatabaseSettings {
  /** Whether this database has the extension `pg_stat_statements`. */
  readonly has_statistics: boolean;
  /** Statements that take longer are logged; -1: none. */
  readonly slow_ms: number;
  /** Bytes of each value that are logged with a statement; 0: none, -1: all. */
  readonly logged_bytes: number;
  /** 0: none. */
  readonly statement_timeout_ms: number;
  readonly lock_timeout_ms: number;
  readonly idle_timeout_ms: number;
}

export async function readDatabaseSettings(tx: Sql): Promise<DatabaseSettings> {
  const row = await tx.row<DatabaseSettings>(
    `select exists(select from pg_extension where extname = 'pg_stat_statements') as has_statistics,
            ${setting('log_min_duration_statement')} as slow_ms,
            ${setting('log_parameter_max_length')} as logged_bytes,
            ${setting('statement_timeout')} as statement_timeout_ms,
            ${setting('lock_timeout')} as lock_timeout_ms,
            ${setting('idle_in_transaction_session_timeout')} as idle_timeout_ms`,
  );
  if (!row) throw new Error('the database has no settings');
  return row;
}

/** In the unit of the setting. */
function setting(name: string): string {
  return `(select setting::int from pg_settings where name = '${name}')`;
}

export interface StatementRow {
  readonly calls: bigint;
  readonly total_ms: number;
  readonly mean_ms: number;
  readonly rows: bigint;
  readonly share: number;
  readonly text: string;
}

/**
 * Returns the statements that took the most time, without their values. Others than these kinds may contain
 * values.
 */
export async function listTopStatements(tx: Sql, limit: number): Promise<StatementRow[]> {
  return await tx.rows<StatementRow>(
    `select calls, total_exec_time as total_ms, mean_exec_time as mean_ms, rows,
            total_exec_time / nullif(sum(total_exec_time) over (), 0) as share,
            regexp_replace(left(query, 2000), '\\s+', ' ', 'g') as text
       from pg_stat_statements
      where dbid = (select oid from pg_database where datname = current_database())
        and query ~* '^\\s*(select|insert|update|delete|merge|with)\\M'
      order by total_exec_time desc limit $1`,
    [limit],
  );
}
