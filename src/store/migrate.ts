/**
 * Forward-only migrations. Each `.sql` file runs once, in one transaction with its record, under the
 * migrator's lock. A file that changed after it ran is refused. Migrations add first; a later one
 * removes the parts that are no longer used. A file that begins with `-- Compatible:` leaves the previous
 * version running: that version starts on the newer schema, too.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Kysely } from 'kysely';
import type { MigrationProvider } from 'kysely/migration';
import { LOCK_NOT_AVAILABLE, sqlState } from './connections/errors.ts';
import type { OpenDatabase } from './db.ts';

interface MigrationFile {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
  /** Whether the previous version works with it. */
  readonly compatible: boolean;
}

export class MigrationError extends Error {}

/** Holding up a running service is worse than trying again. */
const LOCK_TIMEOUT_MS = 3_000;

export interface MigrateOptions {
  readonly folder?: URL;
  readonly tell?: ((line: string) => void) | undefined;
  /** Runs nothing that the previous version could not work with, and waits only shortly for locks. */
  readonly whileRunning?: boolean;
  /** The last migration to run, for an empty database. Default: all of them. */
  readonly upTo?: string | undefined;
}

const FOLDER = new URL('./migrations/', import.meta.url);

export function migrationFiles(folder: URL = FOLDER): MigrationFile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8');
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { name: file.slice(0, -4), text, sha256, compatible: text.startsWith('-- Compatible:') };
    });
}

/**
 * Returns the pending migrations. Refuses a database whose history differs from the files, except for those
 * of a newer version that this one can work with.
 */
export async function pendingMigrations(db: OpenDatabase, folder: URL = FOLDER): Promise<string[]> {
  const files = migrationFiles(folder);
  const exists = await db.row<{ t: string | null }>(`select to_regclass('migration_files')::text as t`);
  const done = exists?.t
    ? await db.rows<{ name: string; sha256: string; compatible: boolean }>(
        `select name, sha256, coalesce(to_jsonb(m) ->> 'compatible' = 'true', false) as compatible
           from migration_files m`,
      )
    : [];
  const known = new Map(files.map((file) => [file.name, file.sha256]));
  for (const { name, sha256, compatible } of done) {
    const currentSha256 = known.get(name);
    if (currentSha256 === undefined) {
      if (compatible) continue;
      throw new MigrationError(
        `the database has migration ${name}, which this version does not include; run a newer version`,
      );
    }
    if (currentSha256 !== sha256) {
      throw new MigrationError(
        `migration ${name} was edited after this database ran it; use the version that created the ` +
          'database, or restore the file and add a new migration',
      );
    }
  }
  const ran = new Set(done.map((row) => row.name));
  return files.filter((file) => !ran.has(file.name)).map((file) => file.name);
}

/**
 * Migrates the database to this version. Returns the migrations that ran. Safe to call in several processes.
 * `tell` gets a line when each starts and ends: on a large table it may take minutes. A new database has
 * nothing to move, so there are no lines.
 */
export async function migrate(
  db: OpenDatabase,
  { folder = FOLDER, tell, whileRunning = false, upTo }: MigrateOptions = {},
): Promise<string[]> {
  const files = migrationFiles(folder);
  const pending = await pendingMigrations(db, folder);
  if (pending.length === 0) return [];
  if (whileRunning && pending.length === files.length) {
    throw new MigrationError('the database is empty, so no version runs on it; check DATABASE_URL');
  }
  const stopping = files.find(({ name, compatible }) => pending.includes(name) && !compatible);
  if (whileRunning && stopping) {
    throw new MigrationError(
      `the previous version does not work with migration ${stopping.name}; stop the service, and run ` +
        'skerryd migrate without --while-running',
    );
  }
  const progress = new Progress(pending, pending.length < files.length ? tell : undefined);
  // Hundreds of modules, which most starts do not need.
  const { Kysely, PostgresDialect, sql } = await import('kysely');
  const { Migrator } = await import('kysely/migration');
  const run = async (file: MigrationFile, tx: Kysely<unknown>) => {
    if (whileRunning) await sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`).execute(tx);
    await sql`create table if not exists migration_files
      (name text primary key, sha256 text not null)`.execute(tx);
    await sql`alter table migration_files
      add column if not exists compatible bool not null default false`.execute(tx);
    await sql.raw(file.text).execute(tx);
    await sql`insert into migration_files (name, sha256, compatible)
      values (${file.name}, ${file.sha256}, ${file.compatible})`.execute(tx);
  };
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: withoutEnd(db) }) });
  const migrator = new Migrator({ db: kysely, provider: migrationProvider(files, progress, run) });
  const { error, results } = await (upTo === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(upTo));
  if (sqlState(error) === LOCK_NOT_AVAILABLE) {
    throw new MigrationError('a table was in use for too long, and nothing was changed; run it again');
  }
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}

class Progress {
  readonly #names: readonly string[];
  readonly #tell: (line: string) => void;

  constructor(names: readonly string[], tell: (line: string) => void = () => undefined) {
    this.#names = names;
    this.#tell = tell;
  }

  async measure(name: string, work: () => Promise<void>): Promise<void> {
    const startMs = performance.now();
    this.#tell(`migration ${name}: ${this.#names.indexOf(name) + 1} of ${this.#names.length}, running`);
    await work();
    this.#tell(`migration ${name}: took ${((performance.now() - startMs) / 1_000).toFixed(1)} s`);
  }
}

function migrationProvider(
  files: readonly MigrationFile[],
  progress: Progress,
  run: (file: MigrationFile, tx: Kysely<unknown>) => Promise<void>,
): MigrationProvider {
  return {
    getMigrations: async () =>
      Object.fromEntries(
        files.map((file) => [
          file.name,
          { up: (tx: Kysely<unknown>) => progress.measure(file.name, () => run(file, tx)) },
        ]),
      ),
  };
}

/** The caller owns the pool, so the migrator must not end it. */
function withoutEnd(db: OpenDatabase): OpenDatabase['pool'] {
  return new Proxy(db.pool, {
    get: (pool, name) => (name === 'end' ? async () => undefined : Reflect.get(pool, name, pool)),
  });
}
