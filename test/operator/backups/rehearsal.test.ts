/**
 * Loses the database in the middle of business, restores a backup of a random moment into an empty one, and
 * goes on. The outside world (machines, chains, address marks) stays as it was at the loss.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type RunningService, startService } from '../../../src/compose/serve.ts';
import { loadConfig } from '../../../src/config.ts';
import { blockAddresses } from '../../../src/domain/inventory/blocks.ts';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import { endRecovery, isRecovering, recoverNumbers } from '../../../src/domain/topups/recovery.ts';
import { verify } from '../../../src/domain/verify/verify.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import type { OpenDatabase } from '../../../src/store/db.ts';
import { createBackupFolder, openRestoreTarget, runBackup } from '../../support/backups.ts';
import { CHEAP_PASSWORDS } from '../../support/cheap-passwords.ts';
import { byLevel } from '../../support/runs.ts';
import { seededRuns } from '../../support/seed.ts';
import { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, topUp, type World } from '../../support/world.ts';

const RUNS = byLevel({ sample: 1, full: 2, soak: 50 });
const STEPS = 10;

for (const run of Array.from({ length: RUNS }, (_, index) => index)) {
  test(`nothing is doubled after a restore, run ${run + 1}`, { timeout: 300_000 }, async (t) => {
    const { seed } = seededRuns(t, 1);
    await rehearse(seed + run);
  });
}

interface Customer {
  readonly customer: SessionClient;
  readonly api: V1Client;
}

async function openCustomer(world: World): Promise<Customer> {
  const customer = await world.customer(150);
  return { customer, api: V1Client.forUrl(world.url, await createApiToken(customer)) };
}

/** mulberry32 */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

async function rehearse(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const archives = await createBackupFolder();
  const world = await startWorld({ SKERRY_BACKUP_RECIPIENTS: archives.recipient });
  const target = await openRestoreTarget();
  let restored: RunningService | undefined;
  try {
    const customers = [await openCustomer(world), await openCustomer(world)];
    const backupAt = random(STEPS);
    let file = '';
    for (let step = 0; step < STEPS; step += 1) {
      if (step === backupAt) {
        const { code, text } = await runBackup(world.opened, '--to', archives.folder);
        assert.equal(code, 0, text);
        file = /^wrote (.*)$/m.exec(text)?.[1] ?? '';
      }
      await operate(world, customers[random(customers.length)] as Customer, random);
    }
    await world.settle();
    // The process is gone. Its database can still be asked, to compare.
    await world.runner.stop();
    const dataDir = join(world.opened.service.settings.auditHeadsFile ?? '', '..');
    const config = loadConfig({
      ...{ SKERRY_PORT: '0', SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' },
      ...{ SKERRY_SIM_BLOCK_S: '0', SKERRY_SIM_INSTALL_S: '0.2' },
    });
    const { code, text } = await target.restore(config, file, archives.identityFile);
    assert.equal(code, 0, text);
    assert.match(text, /newest address-marks/);
    await copyOutside(world.opened.db, target.db);
    restored = await startService(config, target.connection, { passwordCost: CHEAP_PASSWORDS });
    await goOn(
      world.opened.db,
      restored,
      customers.map(({ customer }) => customer.email),
    );
  } finally {
    await restored?.stop();
    await world.close();
    await target.close();
    await archives.remove();
  }
}

/** One step of business. A refusal is fine: the step after it is another one. */
async function operate(
  world: World,
  { customer, api }: Customer,
  random: (below: number) => number,
): Promise<void> {
  // Days may have passed.
  await customer.signIn();
  const servers = ((await api.get('/servers')).body.data ?? []) as { id: string; status: string }[];
  const running = servers.filter(({ status }) => status === 'running');
  const server = running[random(Math.max(1, running.length))];
  const steps = [
    () => order(customer),
    () => order(customer),
    () => topUp(world, customer, 30 + random(60), random(2) === 0 ? 'LTC' : 'BTC'),
    () => customer.post('/topup-api.php', { action: 'create', amount: 40, coin: 'LTC' }),
    () => api.post('/volumes', { name: `v${random(1_000_000)}`, size_gb: 10, region: 'par' }),
    () => (server ? api.delete(`/servers/${server.id}`) : Promise.resolve()),
    () => world.advance(random(20) * 86_400),
  ];
  await steps[random(steps.length)]?.();
  await world.settle();
}

async function order(customer: SessionClient): Promise<void> {
  const server = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
  await customer.post('/deploy-api.php', { ...server, root_password: 'correct horse battery' });
}

/** Machines and chains are not restored: they are as they were when the database was lost. */
async function copyOutside(from: OpenDatabase, to: OpenDatabase): Promise<void> {
  const tables = await from.rows<{ name: string }>(
    `select format('sim.%I', tablename) as name from pg_tables where schemaname = 'sim' order by 1`,
  );
  await to.transaction(async (tx) => {
    await tx.run('set local session_replication_role = replica');
    await tx.run(`truncate ${tables.map(({ name }) => name).join(', ')}`);
    for (const { name } of tables) {
      const row = await from.row<{ all_rows: string }>(
        `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as all_rows from ${name} t`,
      );
      await tx.run(
        `insert into ${name} overriding system value
         select * from jsonb_populate_recordset(null::${name}, $1)`,
        [row?.all_rows ?? '[]'],
      );
    }
  });
}

async function goOn(lost: OpenDatabase, restored: RunningService, emails: readonly string[]): Promise<void> {
  const { service, db } = restored.opened;
  const transfers = () => db.row<{ n: bigint }>('select count(*) as n from transfers');
  const before = await transfers();
  const gone = await listDeleted(lost, db);
  assert.equal(await isRecovering(service), true);
  assert.equal(await restored.runner.runDue(performance.now() + 60_000), true);
  assert.deepEqual(await transfers(), before);
  await recoverNumbers(service);
  await endRecovery(service, { skip: undefined });
  assert.equal(await isRecovering(service), false);
  await blockUnknown(lost, restored);
  for (const name of ['renewals', 'deploys'] as const) await setSwitch(service, name, true);
  const call = async (name: string, body: object) => {
    const response = await fetch(`${restored.url}/sandbox/${name}`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    });
    assert.equal(response.status, 200, `${name}: ${await response.text()}`);
  };
  await call('settle', {});
  for (const email of emails) {
    const customer = SessionClient.forUrl(restored.url ?? '');
    customer.email = email;
    await customer.signIn();
    await order(customer);
    await customer.post('/topup-api.php', { action: 'create', amount: 40, coin: 'LTC' });
    await customer.post('/topup-api.php', { action: 'create', amount: 40, coin: 'BTC' });
  }
  await call('settle', {});
  await call('clock', { advance_s: (35 * DAY_MS) / 1_000 });
  await call('settle', {});
  const broken = (await verify({ db })).filter((each) => each.broken > 0n);
  assert.deepEqual(
    broken.map(({ invariant, examples }) => [invariant.name, examples]),
    [],
  );
  await requireNothingDoubled(lost, db, gone);
}

/** Follows docs/operators/backup.md: addresses of machines that are newer than the database are blocked. */
async function blockUnknown(lost: OpenDatabase, { opened }: RunningService): Promise<void> {
  const { service, db } = opened;
  const machines = (await service.compute.list()).filter((id) => /^[0-9a-f-]{36}$/.test(id));
  const known = new Set((await db.rows<{ id: string }>('select id from servers')).map(({ id }) => id));
  for (const id of machines.filter((each) => !known.has(each))) {
    const rows = await lost.rows<{ block: string }>(
      `select host(addr) as block from ipv4_addresses where server_id = $1
       union all select prefix::text from ipv6_prefixes where server_id = $1`,
      [id],
    );
    for (const { block } of rows) await blockAddresses(service, block, true);
  }
}

/** Lists the servers of the backup that were deleted before the loss. */
async function listDeleted(lost: OpenDatabase, db: OpenDatabase): Promise<string[]> {
  const ids = async (source: OpenDatabase) =>
    (await source.rows<{ id: string }>('select id from servers')).map(({ id }) => id);
  const left = new Set(await ids(lost));
  return (await ids(db)).filter((id) => !left.has(id));
}

async function requireNothingDoubled(
  lost: OpenDatabase,
  db: OpenDatabase,
  gone: readonly string[],
): Promise<void> {
  const invoices = 'select id, coin, deposit_address from topups';
  const owners = new Map<string, string>();
  for (const source of [lost, db]) {
    for (const { id, coin, deposit_address: address } of await source.rows<Record<string, string>>(
      invoices,
    )) {
      const key = `${coin} ${address}`;
      assert.equal(owners.get(key) ?? id, id, `${key} was given to two invoices`);
      owners.set(key, id ?? '');
    }
  }
  const machines = new Set(
    (await db.rows<{ id: string }>('select id from sim.machines')).map(({ id }) => id),
  );
  assert.deepEqual(
    gone.filter((id) => machines.has(id)),
    [],
    'a deleted machine was created again',
  );
  const held = `select host(addr) as addr, server_id from ipv4_addresses where server_id is not null`;
  const holders = new Map<string, string>();
  for (const source of [lost, db]) {
    for (const { addr = '', server_id: id = '' } of await source.rows<Record<string, string>>(held)) {
      if (!machines.has(id)) continue;
      assert.equal(holders.get(addr) ?? id, id, `${addr} belongs to two machines`);
      holders.set(addr, id);
    }
  }
}
