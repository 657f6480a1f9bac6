/** Which database a process uses: DATABASE_URL, or the embedded one, its own or that of the service beside it. */
import type { Config } from '../config.ts';
import { requireSameMode } from '../domain/database-identity/open.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import {
  type ConnectionSettings,
  isUnavailable,
  type OpenDatabase,
  openDatabase,
  sqlState,
} from '../store/db.ts';
import { embeddedExists, findEmbedded, startEmbedded } from '../store/embedded/index.ts';
import { migrate, pendingMigrations } from '../store/migrate.ts';

export interface DatabaseHandle {
  readonly connection: ConnectionSettings;
  /** Stops what was started for this process; leaves alone what was found running. */
  stop(): Promise<void>;
}

/**
 * `own`: start the embedded database, make it when there is none, and refuse a folder in use (`serve`). `join`: use
 * the one that a running service has, or start it for as long as this process lives (children of `serve`, operator's
 * commands). A command on a folder without a database is refused: it was surely meant for another folder.
 */
export async function acquireDatabase(
  config: Config,
  mode: 'own' | 'join' | 'join or make',
  log: (line: string) => void,
): Promise<DatabaseHandle> {
  if (config.DATABASE_URL !== null) {
    return { connection: { connectionString: config.DATABASE_URL }, stop: async () => undefined };
  }
  const dataDir = config.SKERRY_DATA_DIR;
  const running = mode === 'own' ? null : await findEmbedded({ dataDir });
  if (running) return { connection: running, stop: async () => undefined };
  if (mode === 'join' && !(await embeddedExists({ dataDir }))) {
    throw new OperatorError(
      `SKERRY_DATA_DIR: there is no database in ${dataDir}; name the folder, or make one there: skerryd migrate`,
    );
  }
  const embedded = await startEmbedded({ dataDir, log });
  return { connection: embedded.connection, stop: () => embedded.stop() };
}

/** Connects, and sees to it that the schema is this version's: `serve` migrates a sandbox by itself. */
export async function openMigratedDatabase(
  config: Config,
  connection: ConnectionSettings,
  options: { poolSize: number; allowMigration: boolean; onError: (error: Error) => void },
): Promise<OpenDatabase> {
  const db = openDatabase(connection, options);
  try {
    // Before anything is written: a sandbox must not even migrate a live database.
    await requireSameMode(db, config.SKERRY_MODE);
    const pending = await pendingMigrations(db);
    if (pending.length > 0) {
      if (config.SKERRY_MODE === 'live' || !options.allowMigration) {
        throw new OperatorError(
          `the database lacks ${pending.length} migration(s): run 'npx skerryd migrate' first`,
        );
      }
      await migrateWithoutTimeout(connection);
    }
    return db;
  } catch (error) {
    await db.close();
    throw config.DATABASE_URL !== null && isConnectionError(error) ? databaseUnreachable(error) : error;
  }
}

/** Building an index may take longer than any statement of the service may. */
async function migrateWithoutTimeout(connection: ConnectionSettings): Promise<void> {
  const db = openDatabase(connection, { poolSize: 2, statementTimeoutMs: 0 });
  try {
    await migrate(db);
  } finally {
    await db.close();
  }
}

/** The database is away, or refuses our name, password or database. */
function isConnectionError(error: unknown): boolean {
  return isUnavailable(error) || /^(28|3D)|ENOTFOUND|EAI_AGAIN/.test(sqlState(error));
}

/** Only the kind of fault is told: the message may hold the name of user and database. */
function databaseUnreachable(error: unknown): OperatorError {
  const kind = sqlState(error) || 'no answer';
  return new OperatorError(
    `DATABASE_URL: the database cannot be used (${kind}); check host, user, password and database name`,
  );
}
