/**
 * The identity of a database: sandbox or live, real or test-network coins, and the secret key that seals
 * its secrets. A sandbox, where anyone can create money, must never be served as live. Balances paid with
 * worthless coins must never mix with real ones. With the wrong key, the service could not read its secrets
 * and would notice late. The start fails with one line in each of these cases.
 */
import { OperatorError } from '../kernel/operator-error.ts';
import { KeyRing } from '../kernel/secrets.ts';
import type { Database, Sql } from '../kernel/sql.ts';
import { SEALED } from '../spec/sealed.ts';
import { createKeyFile, keyFilePath, readKeyFile } from '../store/service/key-file.ts';
import {
  findServiceRow,
  insertServiceRow,
  lockServiceRow,
  readIncarnation,
  readWorthlessCoins,
  type ServiceRow,
  saveKeyCheck,
  saveWorthlessCoins,
} from '../store/service/service.ts';

const CHECK_TEXT = 'skerry';
/** The service row is the only one of its table. */
const CHECK_ROW = '';

export interface IdentityOptions {
  readonly mode: 'sandbox' | 'live';
  /** The keys, and the setting that they come from. Null: those of the key file in `dataDir`. */
  readonly secretKey: { readonly list: string; readonly source: string } | null;
  readonly dataDir: string;
  /** Coins of test networks are credited; defaults to false. */
  readonly worthless?: boolean;
}

export interface DatabaseIdentity {
  readonly keys: KeyRing;
  /** Business time minus real time. */
  readonly clockOffsetMs: number;
  /** Names this database and its restored copies. */
  readonly incarnation: string;
}

/**
 * Opens a migrated database. An empty one is given its identity, and a key file if no key is set. Throws an
 * OperatorError if the mode differs, or the key is missing or wrong.
 */
export async function openDatabaseIdentity(
  db: Database,
  options: IdentityOptions,
): Promise<DatabaseIdentity> {
  await requireSameMode(db, options.mode);
  const stored = await findServiceRow(db);
  if (stored) {
    await requireSameNetworks(db, options.worthless ?? false);
    return await resealKeyCheck(db, await readIdentity(db, stored, options), stored);
  }
  return await db.transaction(async (tx) => {
    await lockServiceRow(tx);
    await requireSameMode(tx, options.mode);
    const raced = await findServiceRow(tx);
    const stamp = raced ? await readIdentity(tx, raced, options) : await createIdentity(tx, options);
    await requireSameNetworks(tx, options.worthless ?? false);
    return stamp;
  });
}

/** Opens a database whose rows were restored. Throws as `openDatabaseIdentity` does. */
export async function openStoredIdentity(sql: Sql, options: IdentityOptions): Promise<DatabaseIdentity> {
  const stored = await findServiceRow(sql);
  if (!stored)
    throw new OperatorError('the backup has no service row: no service has ever opened its database');
  return await readIdentity(sql, stored, options);
}

async function createIdentity(tx: Sql, options: IdentityOptions): Promise<DatabaseIdentity> {
  const keys = parseKeyRing(
    options,
    options.secretKey?.list ??
      readKeyFile(options.dataDir) ??
      createKeyFile(options.dataDir, KeyRing.generate()),
  );
  await insertServiceRow(tx, {
    mode: options.mode,
    key_check: keys.seal(SEALED.keyCheck, CHECK_ROW, CHECK_TEXT),
  });
  return { keys, clockOffsetMs: 0, incarnation: await readIncarnation(tx) };
}

/**
 * Fails for a database of the other mode before anything, such as a migration, changes it. An empty one is
 * fine.
 */
export async function requireSameMode(db: Sql, mode: IdentityOptions['mode']): Promise<void> {
  const stamp = await findServiceRow(db);
  if (stamp && stamp.mode !== mode) {
    throw new OperatorError(
      `this is a ${stamp.mode} database and cannot be served as ${mode}: set SKERRY_MODE=${stamp.mode}, ` +
        'or point DATABASE_URL or SKERRY_DATA_DIR at another database',
    );
  }
}

/** The network can change until the first top-up, because nothing has any value before. */
async function requireSameNetworks(db: Sql, worthless: boolean): Promise<void> {
  if ((await readWorthlessCoins(db)) === worthless || (await saveWorthlessCoins(db, worthless))) return;
  throw new OperatorError(
    worthless
      ? 'SKERRY_WORTHLESS_COINS: this database accepts real coins; unset it, or use a separate database ' +
          'for test networks'
      : 'this database accepts coins of test networks, so its balances are worthless: ' +
          'point DATABASE_URL at an empty database, or set SKERRY_WORTHLESS_COINS=true',
  );
}

/**
 * After a rotation, seals the check with the newest key, so that the old key can be removed from the list
 * later.
 */
async function resealKeyCheck(
  db: Database,
  stamp: DatabaseIdentity,
  { key_check: check }: ServiceRow,
): Promise<DatabaseIdentity> {
  const { keys } = stamp;
  if (!check.startsWith(keys.sealedPrefix))
    await saveKeyCheck(db, keys.seal(SEALED.keyCheck, CHECK_ROW, CHECK_TEXT));
  return stamp;
}

async function readIdentity(
  sql: Sql,
  stamp: ServiceRow,
  options: IdentityOptions,
): Promise<DatabaseIdentity> {
  const keys = requireKeys(options, stamp.key_check);
  const incarnation = await readIncarnation(sql);
  return { keys, clockOffsetMs: Number(stamp.clock_offset_ms), incarnation };
}

/** Returns the configured keys. Throws an OperatorError unless they open this check of the database. */
export function requireKeys(options: IdentityOptions, keyCheck: string): KeyRing {
  const list = options.secretKey?.list ?? readKeyFile(options.dataDir);
  if (list === undefined) {
    throw new OperatorError(
      `the secret key of this database is missing: restore ${keyFilePath(options.dataDir)} or set ` +
        'SKERRY_SECRET_KEY',
    );
  }
  const keys = parseKeyRing(options, list);
  if (matchesKeyCheck(keys, keyCheck)) return keys;
  throw new OperatorError(
    `${keySource(options)} is not the key of this database: use the key that it was created with`,
  );
}

function matchesKeyCheck(keys: KeyRing, keyCheck: string): boolean {
  try {
    return keys.open(SEALED.keyCheck, CHECK_ROW, keyCheck).toString('utf8') === CHECK_TEXT;
  } catch {
    return false;
  }
}

function parseKeyRing(options: IdentityOptions, list: string): KeyRing {
  try {
    const keys = new KeyRing(list);
    const weakness = options.mode === 'live' ? keys.weakness() : null;
    if (weakness !== null) throw new RangeError(weakness);
    return keys;
  } catch (error) {
    throw new OperatorError(
      `${keySource(options)}: ${error instanceof Error ? error.message : 'not a list of keys'}`,
    );
  }
}

function keySource(options: IdentityOptions): string {
  return options.secretKey?.source ?? keyFilePath(options.dataDir);
}
