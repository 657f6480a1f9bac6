/**
 * The stamp of a database: sandbox or live, once and for good, whether its coins are of test networks, and which secret key
 * its secrets are sealed with. A sandbox, where anybody can make money, must never be served as live, nor balances that were paid
 * with coins of no worth beside real ones; a service with the wrong key could read none of its secrets and would notice
 * late. All are refused at start, in one line.
 */
import { OperatorError } from '../../kernel/operator-error.ts';
import { KeyRing } from '../../kernel/secrets.ts';
import type { Database, Sql } from '../../kernel/sql.ts';
import { createKeyFile, keyFilePath, readKeyFile } from '../../store/key-file.ts';
import {
  findServiceRow,
  insertServiceRow,
  lockServiceRow,
  readWorthlessCoins,
  type ServiceRow,
  saveKeyCheck,
  saveWorthlessCoins,
} from '../../store/service.ts';

const CHECK_PURPOSE = 'key check';
const CHECK_TEXT = 'skerry';

export interface IdentityOptions {
  readonly mode: 'sandbox' | 'live';
  /** SKERRY_SECRET_KEY, or null to use the key file in `dataDir`. */
  readonly secretKey: string | null;
  readonly dataDir: string;
  /** Coins of test networks are credited; false when left out. */
  readonly worthless?: boolean;
}

export interface DatabaseIdentity {
  readonly keys: KeyRing;
  /** Business time minus real time. */
  readonly clockOffsetMs: number;
}

/**
 * Opens a migrated database: stamps an empty one, making a key file if no key is given. Throws a Refusal when the
 * database is of the other mode, or its key is missing or wrong.
 */
export async function openDatabaseIdentity(
  db: Database,
  options: IdentityOptions,
): Promise<DatabaseIdentity> {
  await requireSameMode(db, options.mode);
  const stored = await findServiceRow(db);
  if (stored) {
    await requireSameNetworks(db, options.worthless ?? false);
    return await resealKeyCheck(db, readIdentity(stored, options), stored);
  }
  return await db.transaction(async (tx) => {
    await lockServiceRow(tx);
    await requireSameMode(tx, options.mode);
    const raced = await findServiceRow(tx);
    const stamp = raced ? readIdentity(raced, options) : await createIdentity(tx, options);
    await requireSameNetworks(tx, options.worthless ?? false);
    return stamp;
  });
}

async function createIdentity(tx: Sql, options: IdentityOptions): Promise<DatabaseIdentity> {
  const keys = parseKeyRing(
    options,
    options.secretKey ?? readKeyFile(options.dataDir) ?? createKeyFile(options.dataDir, KeyRing.generate()),
  );
  await insertServiceRow(tx, { mode: options.mode, key_check: keys.seal(CHECK_PURPOSE, CHECK_TEXT) });
  return { keys, clockOffsetMs: 0 };
}

/** Refuses a database of the other mode, before anything (a migration, say) is done to it. An empty one is fine. */
export async function requireSameMode(db: Sql, mode: IdentityOptions['mode']): Promise<void> {
  const stamp = await findServiceRow(db);
  if (stamp && stamp.mode !== mode) {
    throw new OperatorError(
      `this database is a ${stamp.mode} one and is never served as ${mode}: ` +
        `set SKERRY_MODE=${stamp.mode}, or point DATABASE_URL or SKERRY_DATA_DIR at another`,
    );
  }
}

/** Until the first top-up nothing is worth anything yet, and it may be decided anew. */
async function requireSameNetworks(db: Sql, worthless: boolean): Promise<void> {
  if ((await readWorthlessCoins(db)) === worthless || (await saveWorthlessCoins(db, worthless))) return;
  throw new OperatorError(
    worthless
      ? 'SKERRY_WORTHLESS_COINS: this database takes real coins; unset it, or try test networks on a database of their own'
      : 'this database takes coins of test networks, so its balances are worth nothing: ' +
          'point DATABASE_URL at an empty one, or set SKERRY_WORTHLESS_COINS=true',
  );
}

/** After a rotation the check is sealed by the newest key, so that an old one can leave the list one day. */
async function resealKeyCheck(
  db: Database,
  stamp: DatabaseIdentity,
  { key_check: check }: ServiceRow,
): Promise<DatabaseIdentity> {
  const { keys } = stamp;
  if (!check.startsWith(`${keys.newestId}.`)) await saveKeyCheck(db, keys.seal(CHECK_PURPOSE, CHECK_TEXT));
  return stamp;
}

function readIdentity(stamp: ServiceRow, options: IdentityOptions): DatabaseIdentity {
  const list = options.secretKey ?? readKeyFile(options.dataDir);
  if (list === undefined) {
    throw new OperatorError(
      `the secret key of this database is missing: restore ${keyFilePath(options.dataDir)} or set SKERRY_SECRET_KEY`,
    );
  }
  const keys = parseKeyRing(options, list);
  if (!matchesKeyCheck(keys, stamp.key_check)) {
    throw new OperatorError(
      `${keySource(options)} is not the key of this database: give the one it was made with`,
    );
  }
  return { keys, clockOffsetMs: Number(stamp.clock_offset_ms) };
}

function matchesKeyCheck(keys: KeyRing, keyCheck: string): boolean {
  try {
    return keys.open(CHECK_PURPOSE, keyCheck).toString('utf8') === CHECK_TEXT;
  } catch {
    return false;
  }
}

function parseKeyRing(options: IdentityOptions, list: string): KeyRing {
  try {
    return new KeyRing(list);
  } catch (error) {
    throw new OperatorError(
      `${keySource(options)}: ${error instanceof Error ? error.message : 'not a list of keys'}`,
    );
  }
}

function keySource(options: IdentityOptions): string {
  return options.secretKey === null ? keyFilePath(options.dataDir) : 'SKERRY_SECRET_KEY';
}
