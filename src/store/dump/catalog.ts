/** The tables, constraints, and sequences of the database, for backups. Names are quoted where needed. */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';

export interface DumpedTable {
  /** With its schema. */
  readonly name: string;
  /** Without those that are computed. */
  readonly columns: readonly string[];
}

/** Ours: the tables of the service, and those of the simulated world. */
const SCHEMAS = `('public', 'sim')`;
const IS_OURS = `n.nspname in ${SCHEMAS}`;
const OF_EXTENSION = `exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`;

/**
 * Lists the tables whose rows survive a crash. Those of extensions are not ours. A partitioned table stands
 * for its partitions, which differ between databases.
 */
export async function listTables(sql: Sql): Promise<DumpedTable[]> {
  return await sql.rows<DumpedTable>(
    `select format('%I.%I', n.nspname, c.relname) as name,
            coalesce(array_agg(quote_ident(a.attname) order by quote_ident(a.attname))
                       filter (where a.attname is not null), '{}') as columns
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       left join pg_attribute a
         on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p' and ${IS_OURS}
        and not ${OF_EXTENSION}
      group by 1 order by 1`,
  );
}

/** Throws an OperatorError if a table is neither listed nor a partition of a listed one: no backup has it. */
export async function requireNoOtherTables(sql: Sql, listed: readonly DumpedTable[]): Promise<void> {
  const other = await sql.row<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       cross join lateral (select coalesce(pg_partition_root(c.oid), c.oid)::oid as oid) root
       join pg_class r on r.oid = root.oid
       join pg_namespace s on s.oid = r.relnamespace
      where c.relkind in ('r', 'p') and c.relpersistence = 'p' and not ${OF_EXTENSION}
        and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
        and format('%I.%I', s.nspname, r.relname) <> all ($1::text[])
      order by 1 limit 1`,
    [listed.map(({ name }) => name)],
  );
  if (other === undefined) return;
  throw new OperatorError(
    `the database has the table ${other.name}, which backups do not include: move it to another database`,
  );
}

/** Lists the tables and partitions that have triggers of their own. */
export async function listTriggered(sql: Sql): Promise<string[]> {
  const rows = await sql.rows<{ name: string }>(
    `select distinct format('%I.%I', n.nspname, c.relname) as name
       from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
      where not t.tgisinternal and c.relkind in ('r', 'p') and (${IS_OURS} or c.relispartition) order by 1`,
  );
  return rows.map(({ name }) => name);
}

export interface ForeignKey {
  readonly table_name: string;
  readonly name: string;
  readonly definition: string;
}

/** Lists those of partitions only where the partitioned table has none. */
export async function listForeignKeys(sql: Sql): Promise<ForeignKey[]> {
  return await sql.rows<ForeignKey>(
    `select format('%I.%I', n.nspname, c.relname) as table_name, quote_ident(k.conname) as name,
            pg_get_constraintdef(k.oid) as definition
       from pg_constraint k
       join pg_class c on c.oid = k.conrelid
       join pg_namespace n on n.oid = c.relnamespace
      where k.contype = 'f' and k.conparentid = 0 and (${IS_OURS} or c.relispartition) order by 1, 2`,
  );
}

export interface SequenceState {
  readonly name: string;
  readonly last_value: string;
  readonly is_called: boolean;
}

/** Reads the sequences, those of identity columns included. They are always current, in any snapshot. */
export async function readSequences(sql: Sql): Promise<SequenceState[]> {
  const names = await sql.rows<{ name: string }>(
    `select format('%I.%I', schemaname, sequencename) as name from pg_sequences
      where schemaname in ${SCHEMAS} order by 1`,
  );
  const states: SequenceState[] = [];
  for (const { name } of names) {
    const row = await sql.row<Omit<SequenceState, 'name'>>(
      `select last_value::text as last_value, is_called from ${name}`,
    );
    if (row) states.push({ name, ...row });
  }
  return states;
}

export async function setSequence(sql: Sql, { name, last_value, is_called }: SequenceState): Promise<void> {
  await sql.rows('select setval($1::text::regclass, $2::bigint, $3)', [name, last_value, is_called]);
}

/** Lists the migrations that ran. None in a database without our tables. */
export async function listMigrations(sql: Sql): Promise<{ name: string; sha256: string }[]> {
  const found = await sql.row<{ t: string | null }>(`select to_regclass('migration_files')::text as t`);
  if (!found?.t) return [];
  return await sql.rows('select name, sha256 from migration_files order by name');
}

/** Fixes how text is written and read, and lifts the time limits: tables may be large. */
export async function prepareSession(sql: Sql): Promise<void> {
  const settings = [
    'DateStyle = ISO',
    'IntervalStyle = postgres',
    'extra_float_digits = 1',
    'TimeZone = UTC',
  ];
  const limits = ['statement_timeout = 0', 'lock_timeout = 0', 'idle_in_transaction_session_timeout = 0'];
  for (const each of [...settings, 'bytea_output = hex', ...limits]) await sql.run(`set local ${each}`);
}
