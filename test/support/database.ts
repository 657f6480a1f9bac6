/** Databases for tests: each is a copy of a migrated template, on the server that `npm test` provides. */
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { type ConnectionSettings, type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { migrate, migrationFiles } from '../../src/store/migrate.ts';

type ServerSettings = { host: string; port: number; user: string; database: string; password?: string };

function testServer(): ServerSettings {
  const text = process.env.SKERRY_TEST_PG;
  if (!text) throw new Error('SKERRY_TEST_PG is not set. Run tests with `npm test -- test/some.test.ts`.');
  return JSON.parse(text) as ServerSettings;
}

export interface ScratchDatabase {
  readonly db: OpenDatabase;
  readonly connection: ConnectionSettings;
  close(): Promise<void>;
}

/** Opens a new migrated database; `close` drops it. */
export async function openScratchDatabase(options: { poolSize?: number } = {}): Promise<ScratchDatabase> {
  const { connection, drop } = await createScratchDatabase();
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

/**
 * A template that databases are copied from. The first test process that needs it creates it; later ones
 * reuse it.
 */
export interface Template {
  /** Must change when the contents change. */
  readonly name: string;
  /** The template to start from; null: an empty database. */
  readonly base: Template | null;
  fill(connection: ConnectionSettings): Promise<void>;
}

const MIGRATED: Template = {
  name: `template_${shortHash(migrationFiles().map(({ sha256 }) => sha256))}`,
  base: null,
  fill: async (connection) => {
    const db = openDatabase(connection, { poolSize: 2 });
    try {
      await migrate(db);
    } finally {
      await db.close();
    }
  },
};

/**
 * Defines a template with all tables and the rows that `fill` writes. `sources`: the texts that the rows
 * depend on.
 */
export function defineTemplate(name: string, sources: readonly string[], fill: Template['fill']): Template {
  return { name: `${MIGRATED.name}_${name}_${shortHash(sources)}`, base: MIGRATED, fill };
}

/**
 * Creates an empty or migrated database, or a copy of `from`, for callers that open their own connections.
 */
export async function createScratchDatabase(
  options: { empty?: boolean; from?: Template } = {},
): Promise<{ connection: ServerSettings; drop(): Promise<void> }> {
  const name = `t_${randomBytes(8).toString('hex')}`;
  const template = options.empty ? 'template0' : await ensureTemplate(options.from ?? MIGRATED);
  await withAdminClient((admin) =>
    admin.query(`create database ${name} template ${template} strategy file_copy`),
  );
  return {
    connection: { ...testServer(), database: name },
    drop: async () => {
      await withAdminClient((admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
}

const templates = new Map<string, Promise<string>>();

function ensureTemplate(template: Template): Promise<string> {
  const existing = templates.get(template.name);
  if (existing) return existing;
  const creation = createTemplate(template);
  templates.set(template.name, creation);
  return creation;
}

async function createTemplate({ name, base, fill }: Template): Promise<string> {
  const from = base === null ? 'template0' : await ensureTemplate(base);
  await withAdminClient(async (admin) => {
    await admin.query('select pg_advisory_lock(7355608)');
    const found = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) {
      await admin.query(`drop database if exists ${name}_partial with (force)`);
      await admin.query(`create database ${name}_partial template ${from}`);
      await fill({ ...testServer(), database: `${name}_partial` });
      await admin.query(`alter database ${name}_partial rename to ${name}`);
    }
    await admin.query('select pg_advisory_unlock(7355608)');
  });
  return name;
}

function shortHash(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  return hash.digest('hex').slice(0, 16);
}

async function withAdminClient<T>(work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client(testServer());
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
