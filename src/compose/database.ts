/** Selects the database of a process: DATABASE_URL, its own embedded one, or that of a running service. */
import type { Config } from '../config.ts';
import { type IdentityOptions, requireSameMode } from '../domain/database-identity.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { isUnavailable, sqlState } from '../store/connections/errors.ts';
import {
  type ConnectionSettings,
  type DatabaseOptions,
  type OpenDatabase,
  openDatabase,
} from '../store/db.ts';
import { embeddedExists, findEmbedded, startEmbedded } from '../store/embedded/index.ts';
import { type MigrateOptions, migrate, migrationFiles, pendingMigrations } from '../store/migrate.ts';
import { readServiceKey } from './service-key.ts';

export interface DatabaseHandle {
  readonly connection: ConnectionSettings;
  /** Stops the database if this process started it; leaves a running one alone. */
  stop(): Promise<void>;
}

/**
 * `own`: starts the embedded database, creates it if missing, and refuses a folder in use (`serve`). `join`:
 * uses the database of a running service, or starts it for the lifetime of this process (children of `serve`,
 * operator commands). `join` refuses a folder without a database: the command was probably meant for another
 * folder.
 */
export async function acquireDatabase(
  config: Config,
  mode: 'own' | 'join' | 'join or create',
  log: (line: string) => void,
): Promise<DatabaseHandle> {
  if (config.DATABASE_URL !== null) {
    const directUrl = config.SKERRY_DB_DIRECT_URL;
    const connection = {
      connectionString: config.DATABASE_URL,
      ...(directUrl === null ? {} : { directUrl }),
    };
    return { connection, stop: async () => undefined };
  }
  const dataDir = config.SKERRY_DATA_DIR;
  const running = mode === 'own' ? null : await findEmbedded({ dataDir });
  if (running) return { connection: running, stop: async () => undefined };
  if (mode === 'join' && !(await embeddedExists({ dataDir }))) {
    throw new OperatorError(
      `SKERRY_DATA_DIR: no database in ${dataDir}; set the right folder, or create one with: skerryd migrate`,
    );
  }
  const isArchiving = config.SKERRY_BACKUP_WAL_DAYS > 0;
  const embedded = await startEmbedded({ dataDir, isArchiving, log });
  return { connection: embedded.connection, stop: () => embedded.stop() };
}

/** Returns the settings that the identity of a database must match. */
export function identityOptions(config: Config): IdentityOptions {
  return {
    mode: config.SKERRY_MODE,
    secretKey: readServiceKey(config),
    dataDir: config.SKERRY_DATA_DIR,
    worthless: config.SKERRY_WORTHLESS_COINS,
  };
}

export interface MigrationChoice {
  /** For a sandbox. */
  readonly mayMigrate?: boolean;
  /** Whether another service may use the database meanwhile. */
  readonly whileRunning?: boolean;
  /** Gets a line when each migration starts and ends. */
  readonly tellMigration?: (line: string) => void;
}

/** Connects and makes sure that the schema is current: `serve` migrates a sandbox automatically. */
export async function openMigratedDatabase(
  config: Config,
  connection: ConnectionSettings,
  options: MigrationChoice & Pick<DatabaseOptions, 'onError' | 'onMove'>,
): Promise<OpenDatabase> {
  const { onError, onMove } = options;
  const db = openDatabase(connection, {
    poolSize: config.SKERRY_DB_POOL,
    ...(onError && { onError }),
    ...(onMove && { onMove }),
  });
  try {
    // Check the mode before any write: a sandbox must not even migrate a live database.
    await requireSameMode(db, config.SKERRY_MODE);
    const pending = await pendingMigrations(db);
    if (pending.length > 0) {
      if (config.SKERRY_MODE === 'live' || !options.mayMigrate) {
        throw new OperatorError(
          `the database needs ${pending.length} migration(s); run 'npx skerryd migrate' first`,
        );
      }
      const isNew = pending.length === migrationFiles().length;
      const whileRunning = options.whileRunning === true && !isNew;
      await migrateWithoutTimeout(connection, { tell: options.tellMigration, whileRunning });
    }
    return db;
  } catch (error) {
    await db.close();
    throw config.DATABASE_URL !== null && isConnectionError(error) ? databaseUnreachable(error) : error;
  }
}

/**
 * Runs without the statement timeout: building an index can take longer than any statement of the service.
 */
async function migrateWithoutTimeout(connection: ConnectionSettings, options: MigrateOptions): Promise<void> {
  const db = openDatabase(withoutPooler(connection), { poolSize: 2, statementTimeoutMs: 0 });
  try {
    await migrate(db, options);
  } finally {
    await db.close();
  }
}

/** Returns the connection to the server itself: a pooler would keep the statement timeout of its sessions. */
export function withoutPooler(connection: ConnectionSettings): ConnectionSettings {
  return connection.directUrl === undefined ? connection : { connectionString: connection.directUrl };
}

/** Whether the database is unreachable, or rejects our user, password, or database name. */
function isConnectionError(error: unknown): boolean {
  return isUnavailable(error) || /^(28|3D)|ENOTFOUND|EAI_AGAIN/.test(sqlState(error));
}

/** Reports only the error code: the message may contain the names of the user and the database. */
function databaseUnreachable(error: unknown): OperatorError {
  const kind = sqlState(error) || 'no response';
  return new OperatorError(
    `DATABASE_URL: cannot use the database (${kind}); check the host, user, password, and database name`,
  );
}
