/** Databases for tests: each a fresh copy of a migrated template, on the server that `npm test` provides. */
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { migrate, migrationFiles } from '../../src/store/migrate.ts';

type Server = { host: string; port: number; user: string; database: string; password?: string };

function server(): Server {
  const text = process.env.SKERRY_TEST_PG;
  if (!text) throw new Error('SKERRY_TEST_PG is not set: run tests by `npm test -- test/some.test.ts`');
  return JSON.parse(text) as Server;
}

export interface ScratchDatabase {
  readonly db: OpenDatabase;
  readonly connection: ConnectionSettings;
  close(): Promise<void>;
}

/** A fresh migrated database of its own; `close` drops it. */
export async function scratchDatabase(options: { poolSize?: number } = {}): Promise<ScratchDatabase> {
  const { connection, drop } = await createScratch();
  const db = openDatabase(connection, { poolSize: options.poolSize ?? 8 });
  return {
    db,
    connection,
    close: async () => {
      await db.close();
      await drop();
    },
  };
}

/** An empty or migrated database without a connection to it, for processes that bring their own. */
export async function createScratch(
  options: { empty?: boolean } = {},
): Promise<{ connection: Server; drop(): Promise<void> }> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  const template = options.empty ? 'template0' : await ensureTemplate();
  await asAdmin((admin) => admin.query(`create database ${name} template ${template}`));
  return {
    connection: { ...server(), database: name },
    drop: async () => {
      await asAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
}

let ready: Promise<string> | undefined;

/** Migrates one template per set of migrations; test processes that come later find it. */
function ensureTemplate(): Promise<string> {
  ready ??= asAdmin(async (admin) => {
    const hash = createHash('sha256');
    for (const file of migrationFiles()) hash.update(file.sha256);
    const name = `template_${hash.digest('hex').slice(0, 16)}`;
    await admin.query('select pg_advisory_lock(7355608)');
    const found = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) {
      await admin.query(`drop database if exists ${name}_making with (force)`);
      await admin.query(`create database ${name}_making template template0`);
      const db = openDatabase({ ...server(), database: `${name}_making` }, { poolSize: 2 });
      try {
        await migrate(db);
      } finally {
        await db.close();
      }
      await admin.query(`alter database ${name}_making rename to ${name}`);
    }
    await admin.query('select pg_advisory_unlock(7355608)');
    return name;
  });
  return ready;
}

async function asAdmin<T>(work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client(server());
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
