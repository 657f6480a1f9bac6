import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openDatabaseIdentity, requireSameMode } from '../../src/domain/database-identity.ts';
import { KeyRing } from '../../src/kernel/secrets.ts';
import { SEALED } from '../../src/spec/sealed.ts';
import { openDatabase } from '../../src/store/db.ts';
import { createScratchDatabase, openScratchDatabase, type ScratchDatabase } from '../support/database.ts';
import { refusalMessage } from './fixture.ts';

let scratch: ScratchDatabase;
let dataDir: string;
beforeEach(async () => {
  scratch = await openScratchDatabase();
  dataDir = join(mkdtempSync(join(tmpdir(), 'skerry-stamp-')), 'data');
});
afterEach(async () => {
  await scratch.close();
  rmSync(join(dataDir, '..'), { recursive: true });
});

const open = (mode: 'sandbox' | 'live' = 'sandbox', secretKey: string | null = null) =>
  openDatabaseIdentity(scratch.db, {
    mode,
    secretKey: secretKey === null ? null : { list: secretKey, source: 'SKERRY_SECRET_KEY' },
    dataDir,
  });
const keyFile = () => join(dataDir, 'secret.key');

test('an empty database is given an identity and a key file that only its owner can read', async () => {
  const { keys, clockOffsetMs } = await open();
  assert.equal(clockOffsetMs, 0);
  assert.equal(statSync(keyFile()).mode & 0o777, 0o600);
  const again = await open();
  assert.equal(again.keys.open(SEALED.mail, 'a', keys.seal(SEALED.mail, 'a', 'text')).toString(), 'text');
});

test('a key from the settings is used, and no key file is created', async () => {
  const key = KeyRing.generate();
  await open('sandbox', key);
  assert.ok(!existsSync(keyFile()));
  await open('sandbox', `k2:${KeyRing.generate().slice(3)},${key}`);
});

test('after a rotation, the new key alone opens the database', async () => {
  const [old, fresh] = [KeyRing.generate(), `k2:${KeyRing.generate().slice(3)}`];
  await open('sandbox', old);
  assert.match(await refusalMessage(open('sandbox', fresh)), /is not the key of this database/);
  await open('sandbox', `${fresh},${old}`);
  await open('sandbox', fresh);
});

test('processes that start together agree on one key', async () => {
  const opened = await Promise.all(Array.from({ length: 4 }, () => open()));
  const sealed = opened[0]?.keys.seal(SEALED.mail, 'a', 'text') ?? '';
  for (const { keys } of opened) assert.equal(keys.open(SEALED.mail, 'a', sealed).toString(), 'text');
});

test('a database cannot be served in the other mode', async () => {
  await open('sandbox');
  assert.match(
    await refusalMessage(open('live')),
    /this is a sandbox database and cannot be served as live: set SKERRY_MODE=sandbox/,
  );
  assert.match(await refusalMessage(requireSameMode(scratch.db, 'live')), /a sandbox database/);
  await requireSameMode(scratch.db, 'sandbox');
});

test('a database without tables has no mode yet', async () => {
  const { connection, drop } = await createScratchDatabase({ empty: true });
  const db = openDatabase(connection, { poolSize: 1 });
  await requireSameMode(db, 'live');
  await db.close();
  await drop();
});

test('a wrong key, from settings or file, is rejected without being shown', async () => {
  await open();
  const wrong = KeyRing.generate();
  const line = await refusalMessage(open('sandbox', wrong));
  assert.match(line, /^SKERRY_SECRET_KEY is not the key of this database/);
  assert.ok(!line.includes(wrong.slice(3)));
  writeFileSync(keyFile(), wrong);
  assert.match(await refusalMessage(open()), /secret\.key is not the key of this database/);
});

test('a missing key is rejected and not replaced', async () => {
  await open();
  rmSync(keyFile());
  assert.match(await refusalMessage(open()), /is missing: restore .*secret\.key or set SKERRY_SECRET_KEY/);
  assert.ok(!existsSync(keyFile()));
});

test('a key file without a key is rejected', async () => {
  await open();
  const { length } = readFileSync(keyFile(), 'utf8');
  writeFileSync(keyFile(), 'x'.repeat(length));
  assert.match(await refusalMessage(open()), /secret\.key: each key must be id:base64/);
});

test('a key file that others can read is rejected', async () => {
  await open();
  chmodSync(keyFile(), 0o644);
  assert.match(await refusalMessage(open()), /run: chmod 600/);
});

test('the clock offset is restored', async () => {
  await open();
  await scratch.db.run('update service set clock_offset_ms = 90000');
  assert.equal((await open()).clockOffsetMs, 90_000);
});

test('coins of test networks and real coins never mix in one database', async () => {
  const live = (worthless: boolean) =>
    openDatabaseIdentity(scratch.db, { mode: 'live', secretKey: null, dataDir, worthless });
  await live(true);
  // No one has been asked for a payment yet.
  await live(false);
  await live(true);
  await scratch.db.transaction(async (tx) => {
    // A top-up row without its references.
    await tx.run('set local session_replication_role = replica');
    await tx.run(
      `insert into topups
         (id, public_no, order_ref, customer_id, coin, amount_cents, bonus_cents, rate_usd, deposit_units,
          deposit_address, deposit_uri, required_confirmations, status, expires_at, created_at)
       values (gen_random_uuid(), 1, 'ord_1', gen_random_uuid(), 'LTC', 1, 0, '1', 1, 'a', 'a', 1, 'pending',
               now(), now())`,
    );
  });
  await live(true);
  assert.match(await refusalMessage(live(false)), /coins of test networks.*SKERRY_WORTHLESS_COINS/);
  await scratch.db.run('update service set worthless = false');
  await live(false);
  assert.match(await refusalMessage(live(true)), /^SKERRY_WORTHLESS_COINS: this database accepts real coins/);
});

test('a live service refuses a key that is not random, which a sandbox may use', async () => {
  const weak = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
  assert.match(await refusalMessage(open('live', weak)), /^SKERRY_SECRET_KEY: .*is not random/);
  await open('sandbox', weak);
});
