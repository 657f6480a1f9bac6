/** `skerryd backup` and `skerryd restore`, on a populated sandbox and an empty database. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type RunningService, startService } from '../../../src/compose/serve.ts';
import { type Config, loadConfig } from '../../../src/config.ts';
import { readStatus } from '../../../src/domain/health/status.ts';
import { isPoolCoin } from '../../../src/domain/topups/addresses/pool.ts';
import { endRecovery, isRecovering, recoverNumbers } from '../../../src/domain/topups/recovery.ts';
import { verify } from '../../../src/domain/verify/verify.ts';
import { createIdentity } from '../../../src/kernel/crypt/age.ts';
import type { CoinCode } from '../../../src/spec/coins.ts';
import { nextBackendCall } from '../../../src/store/inventory/backends.ts';
import { findServiceRow } from '../../../src/store/service/service.ts';
import { listAddressNumbers } from '../../../src/store/topups/marks.ts';
import {
  type BackupFolder,
  createBackupFolder,
  dumpManifest,
  oneChunk,
  openRestoreTarget,
  readArchive,
  readManifest,
  runBackup,
} from '../../support/backups.ts';
import { dumpTables } from '../../support/dump-tables.ts';
import { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, topUp, type World } from '../../support/world.ts';

/** A restore marks the database, and turns switches off. */
const CHANGED_BY_RESTORE = new Set([
  ...['public.service', 'public.switches', 'public.audit_events', 'public.address_marks'],
]);

/** Each has rows. */
const PARTITIONED = ['audit_events', 'events', 'metrics'];

let world: World;
let archives: BackupFolder;
let customer: SessionClient;
let config: Config;
let file: string;
before(async () => {
  archives = await createBackupFolder();
  world = await startWorld({ SKERRY_BACKUP_RECIPIENTS: archives.recipient });
  customer = await world.customer(60);
  const api = V1Client.forUrl(world.url, await createApiToken(customer));
  const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
  await customer.post('/deploy-api.php', { ...order, root_password: 'correct horse battery' });
  await api.post('/volumes', { name: 'tab\there, a "quote", \\ and ü', size_gb: 10, region: 'par' });
  await topUp(world, customer, 40);
  await world.settle();
  const { code, text } = await runBackup(world.opened, '--to', archives.folder);
  assert.equal(code, 0, text);
  file = /^wrote (.*)$/m.exec(text)?.[1] ?? '';
  const dataDir = join(archives.folder, 'data');
  await mkdir(dataDir);
  await writeFile(join(dataDir, 'secret.key'), await readFile(keyFile()), { mode: 0o600 });
  config = loadConfig({
    ...{ SKERRY_PORT: '0', SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' },
    ...{ SKERRY_SIM_BLOCK_S: '0', SKERRY_SIM_INSTALL_S: '0.2' },
  });
});
after(async () => {
  await world.close();
  await archives.remove();
});

const keyFile = () => join(world.opened.service.settings.auditHeadsFile ?? '', '..', 'secret.key');

test('a restored database has every row of every table of the backup', async () => {
  const target = await openRestoreTarget();
  try {
    const { code, text } = await target.restore(config, file, archives.identityFile);
    assert.equal(code, 0, text);
    assert.match(text, /^restored \d+ rows from the backup of 20/m);
    const backup = await readManifest(oneChunk(await readArchive(file, archives.identity)));
    const restored = await dumpManifest(target.db);
    const unchanged = ({ tables }: typeof backup) =>
      tables.filter(({ name }) => !CHANGED_BY_RESTORE.has(name));
    assert.ok(unchanged(backup).length > 90);
    for (const name of PARTITIONED) {
      const rows = backup.tables.find((each) => each.name === `public.${name}`)?.rows ?? 0;
      assert.ok(rows > 0, name);
    }
    assert.deepEqual(unchanged(restored), unchanged(backup));
    const others = ({ sequences }: typeof backup) =>
      sequences.filter(({ name }) => name !== 'public.backend_calls');
    assert.deepEqual(others(restored), others(backup));
    // Hosts have seen numbers from after the backup, and refuse lower ones.
    const laterCall = (await nextBackendCall(world.opened.db)) + 1_000_000;
    assert.ok((await nextBackendCall(target.db)) > laterCall);
    const audited = await target.db.rows(`select from audit_events where action = 'database.restore'`);
    assert.equal(audited.length, 1);
    const [then, now] = [await dumpTables(world.opened.db), await dumpTables(target.db)];
    for (const table of ['customers', 'balances', 'transfers', 'servers', 'ipv4_addresses', 'api_tokens'])
      assert.deepEqual(now[table], then[table], table);
    const broken = (await verify({ db: target.db })).filter((each) => each.broken > 0n);
    assert.deepEqual(
      broken.map(({ invariant }) => invariant.name),
      [],
    );
    const triggers = await target.db.row<{ n: bigint }>(
      `select count(*) as n from pg_trigger where tgenabled <> 'O'`,
    );
    assert.equal(triggers?.n, 0n);
    const again = await target.restore(config, file, archives.identityFile);
    assert.equal(again.code, 1);
    assert.match(again.text, /the database is not empty/);
  } finally {
    await target.close();
  }
});

test('a decrypted backup is a tar file, without the service key', async () => {
  const plain = await readArchive(file, archives.identity);
  const { stdout, status } = spawnSync('tar', ['-t'], { input: plain, encoding: 'utf8' });
  assert.equal(status, 0);
  const names = stdout.trim().split('\n');
  assert.deepEqual([names[0], names.at(-1)], ['backup.json', 'manifest.json']);
  const [id, key = ''] = (await readFile(keyFile(), 'utf8')).trim().split(':');
  assert.ok(key.length > 40, id);
  assert.equal(plain.includes(key), false);
  assert.equal(plain.includes(Buffer.from(key, 'base64')), false);
  assert.equal((await readFile(file)).includes(Buffer.from(customer.email ?? '')), false);
});

test('a damaged, truncated, or foreign backup is refused, and nothing is restored', async () => {
  const bytes = await readFile(file);
  const damagedAt = (place: number) => {
    const copy = Buffer.from(bytes);
    copy[place] = (copy[place] ?? 0) ^ 1;
    return copy;
  };
  const other = join(archives.folder, 'other.txt');
  await writeFile(other, (await createIdentity()).identity);
  const target = await openRestoreTarget();
  const attempt = async (content: Buffer, identityFile = archives.identityFile) => {
    const path = join(archives.folder, 'attempt.age');
    await writeFile(path, content);
    const { code, text } = await target.restore(config, path, identityFile);
    assert.equal(code, 1, text);
    assert.equal(await findServiceRow(target.db), undefined);
    const found = await target.db.row<{ t: string | null }>(`select to_regclass('customers')::text as t`);
    if (found?.t) assert.deepEqual(await target.db.rows('select from customers'), []);
    return text;
  };
  try {
    const damaged = /the archive is damaged or incomplete/;
    for (const place of [400, Math.floor(bytes.length / 2), bytes.length - 5])
      assert.match(await attempt(damagedAt(place)), damaged, `byte ${place}`);
    for (const length of [300, Math.floor(bytes.length / 2), bytes.length - 1])
      assert.match(await attempt(bytes.subarray(0, length)), damaged, `${length} bytes`);
    assert.match(await attempt(bytes, other), /encrypted to other keys/);
    await cp(file, join(archives.folder, 'attempt.age'));
    await writeFile(join(archives.folder, 'attempt.age.sha256'), `${'0'.repeat(64)}  attempt.age\n`);
    assert.match(await attempt(bytes), /does not have the SHA-256/);
    await rm(join(archives.folder, 'attempt.age.sha256'));
    const foreignKey = { ...config, SKERRY_DATA_DIR: archives.folder };
    const keyless = await target.restore(foreignKey, file, archives.identityFile);
    assert.match(keyless.text, /the secret key of this database is missing/);
    // Its first entry has a check, so that a wrong key is known before the rows are read.
    const plain = await readArchive(file, archives.identity);
    assert.match(plain.subarray(0, 1_024).toString(), /"key_check": "k1\./);
    assert.equal(await findServiceRow(target.db), undefined);
    assert.equal((await target.restore(config, file, archives.identityFile)).code, 0);
  } finally {
    await target.close();
  }
});

test('a restored service refuses changes and runs no work until skerryd recover', async () => {
  const target = await openRestoreTarget();
  let running: RunningService | undefined;
  try {
    assert.equal((await target.restore(config, file, archives.identityFile)).code, 0);
    running = await startService(config, target.connection);
    const { service } = running.opened;
    const findings = await readStatus(service);
    assert.ok(findings.some(({ level, subject }) => level === 'fail' && subject === 'recovery'));
    const visitor = SessionClient.forUrl(running.url ?? '');
    await visitor.signUp();
    const invoice = { action: 'create', amount: 40, coin: 'LTC' };
    assert.equal((await visitor.post('/topup-api.php', invoice)).status, 503);
    assert.deepEqual(await recoverNumbers(service), []);
    assert.equal(await isRecovering(service), true);
    await assert.rejects(endRecovery(service, { skip: undefined }), /there are no address marks/);
    const indexes = async () =>
      new Map(
        (
          await service.db.rows<{ code: CoinCode; next_index: number }>('select code, next_index from coins')
        ).map(({ code, next_index: index }) => [code, index]),
      );
    const earlier = await indexes();
    const ended = await endRecovery(service, { skip: 7 });
    assert.equal(ended?.skipped.get('LTC'), 7);
    assert.equal(await isRecovering(service), false);
    const derived = [...service.chains.keys()].filter((coin) => !isPoolCoin(coin));
    assert.ok(derived.some((coin) => !earlier.has(coin)));
    for (const coin of derived) assert.equal((await indexes()).get(coin), (earlier.get(coin) ?? 0) + 7, coin);
    const off = await service.db.rows<{ name: string }>(
      'select name from switches where not on_ order by name',
    );
    assert.deepEqual(
      off.map(({ name }) => name),
      ['deploys', 'renewals'],
    );
  } finally {
    await running?.stop();
    await target.close();
  }
});

test('marks of a restored service do not count, and those put back later do', async () => {
  const target = await openRestoreTarget();
  let running: RunningService | undefined;
  try {
    const dataDir = join(archives.folder, 'marks');
    await mkdir(dataDir);
    await cp(join(archives.folder, 'data', 'secret.key'), join(dataDir, 'secret.key'));
    const here = { ...config, SKERRY_DATA_DIR: dataDir };
    const noMarks = /there are no address[- ]marks/;
    assert.match((await target.restore(here, file, archives.identityFile)).text, noMarks);
    running = await startService(here, target.connection);
    const { service } = running.opened;
    await recoverNumbers(service);
    assert.equal((await service.marks.read()).size, 0);
    const old = { next_index: 0n, given: 1n, pool_place: 0n };
    await service.marks.raise('BTC', old);
    await assert.rejects(endRecovery(service, { skip: undefined }), noMarks);
    for (const { coin, ...numbers } of await listAddressNumbers(service.db))
      await service.marks.raise(coin, numbers);
    await service.marks.raise('LTC', { next_index: 90n, given: 90n, pool_place: 0n });
    await recoverNumbers(service);
    assert.notEqual(await endRecovery(service, { skip: undefined }), null);
    const ltc = (await listAddressNumbers(service.db)).find(({ coin }) => coin === 'LTC');
    assert.equal(ltc?.next_index, 90n);
  } finally {
    await running?.stop();
    await target.close();
  }
});
