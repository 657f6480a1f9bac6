/**
 * One database for all interleavings of a run. Its functions of time are virtual, and `reset` brings back the
 * rows that `keep` found, so that each interleaving starts from the same state.
 */
import type pg from 'pg';
import type { Sql } from '../../../src/kernel/sql.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { createScratchDatabase } from '../../support/database.ts';
import type { Wait } from './settling.ts';

/** Sessions that are open from the start, and more than the tasks of any scenario have at once. */
const SESSIONS = 12;
const SESSIONS_MAX = 48;
/** Deleted rows slow down scans until the tables are truncated. */
const TRUNCATE_EVERY = 300;

/**
 * They precede the built-in functions in the search path. The plans must not depend on how many dead rows
 * there are, and the search for deadlocks is ours.
 */
const SETTINGS = {
  search_path: 'virtual, pg_catalog, public',
  deadlock_timeout: `'1h'`,
  synchronous_commit: 'off',
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  jit: 'off',
};

const VIRTUAL = `
create schema virtual;
create table virtual.clock (at timestamptz not null);
insert into virtual.clock values ('2030-01-31 12:00:00+00');
create function virtual.clock_timestamp() returns timestamptz volatile language sql
  as 'select at from virtual.clock';
create function virtual.now() returns timestamptz stable language sql as 'select at from virtual.clock';
create function virtual.random() returns double precision volatile language sql
  as 'select 0.5::double precision';
create sequence virtual.uuids;
create function virtual.gen_random_uuid() returns uuid volatile language sql
  as 'select md5(nextval(''virtual.uuids'')::text)::uuid';`;

/** Above those of the rows that are kept. */
const FIRST_UUID = 1_000_000;

const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as name, n.nspname || '_' || c.relname as kept,
         (select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
            from pg_attribute a
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
             and a.attgenerated = '') as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where n.nspname in ('public', 'sim') and c.relkind in ('r', 'p') and not c.relispartition
   order by 1`;

export class InterleaveDatabase implements Wait {
  readonly db: OpenDatabase;
  /** For the test itself and the simulated drivers: its statements are no steps. */
  readonly admin: OpenDatabase;
  /** Without triggers and foreign keys. */
  readonly #plain: pg.PoolClient;
  readonly #drop: () => Promise<void>;
  #resets = 0;

  private constructor(parts: {
    db: OpenDatabase;
    admin: OpenDatabase;
    plain: pg.PoolClient;
    drop: () => Promise<void>;
  }) {
    this.db = parts.db;
    this.admin = parts.admin;
    this.#plain = parts.plain;
    this.#drop = parts.drop;
  }

  static async open(): Promise<InterleaveDatabase> {
    const { connection, drop } = await createScratchDatabase();
    const setUp = openDatabase(connection, { poolSize: 1 });
    for (const statement of VIRTUAL.split(/;$/m)) if (statement.trim()) await setUp.run(statement);
    for (const [name, value] of Object.entries(SETTINGS)) {
      await setUp.run(`alter database ${connection.database} set ${name} = ${value}`);
    }
    await turnOffAutovacuum(setUp);
    await setUp.close();
    const db = openDatabase(connection, { poolSize: SESSIONS_MAX });
    // The checks of other sessions after a lost answer are no steps of a task.
    Object.assign(db.silence, { suspect: () => undefined });
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => db.pool.connect()));
    for (const session of sessions) session.release();
    const admin = openDatabase(connection, { poolSize: 4 });
    const plain = await admin.pool.connect();
    // The setting discards the plans of its session, so this session keeps it.
    await plain.query('set session_replication_role = replica');
    return new InterleaveDatabase({ db, admin, plain, drop });
  }

  async close(): Promise<void> {
    this.#plain.release();
    await this.db.close();
    await this.admin.close();
    await this.#drop();
  }

  /** Makes the current rows those of every reset. */
  async keep(): Promise<void> {
    const tables = await this.admin.rows<{ name: string; kept: string; columns: string }>(TABLES);
    const full = new Set<string>();
    for (const { name, kept } of tables) {
      if (!(await this.admin.row(`select from ${name} limit 1`))) continue;
      await this.admin.run(`create table virtual.${kept} as table ${name}`);
      full.add(name);
    }
    const restore = tables
      .filter(({ name }) => full.has(name))
      .map(
        ({ name, kept, columns }) =>
          `insert into ${name} (${columns}) overriding system value
             select ${columns} from virtual.${kept};`,
      )
      .join('\n');
    const empty = tables
      .map(({ name }) => `if exists (select from ${name}) then delete from ${name}; end if;`)
      .join('\n');
    const truncate = `truncate ${tables.map(({ name }) => name).join(', ')};`;
    for (const [name, clear] of Object.entries({ reset: empty, renew: truncate })) {
      await this.admin.run(
        `create function virtual.${name}() returns void language plpgsql as 'begin
           ${clear}
           ${restore}
           perform setval(''virtual.uuids'', ${FIRST_UUID});
           update virtual.clock set at = ''2030-01-31 12:00:00+00''; end'`,
      );
    }
  }

  async reset(): Promise<void> {
    const isRenewal = this.#resets++ % TRUNCATE_EVERY === 0;
    await this.admin.withClient(this.#plain).row(`select virtual.${isRenewal ? 'renew' : 'reset'}()`);
  }

  async setClock(now: Date): Promise<void> {
    await this.admin.run('update virtual.clock set at = $1', [now]);
  }

  async blockers(pids: readonly number[]): Promise<ReadonlyMap<number, readonly number[]>> {
    const rows = await this.admin.rows<{ pid: number; blockers: number[] }>(
      `select pid, pg_blocking_pids(pid) as blockers from unnest($1::int[]) as pid`,
      [pids],
    );
    return new Map(rows.map(({ pid, blockers }) => [pid, blockers]));
  }

  async cancel(pid: number): Promise<void> {
    await this.admin.row('select pg_cancel_backend($1)', [pid]);
  }

  /** A session that waits for a lock holds nothing that the server needs. */
  pause(pid: number): void {
    process.kill(pid, 'SIGSTOP');
  }

  resume(pid: number): void {
    process.kill(pid, 'SIGCONT');
  }
}

/** It would move rows, and change the plans of statements. */
async function turnOffAutovacuum(db: Sql): Promise<void> {
  const tables = await db.rows<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('public', 'sim', 'partitions') and c.relkind = 'r'`,
  );
  for (const { name } of tables) await db.run(`alter table ${name} set (autovacuum_enabled = false)`);
}
