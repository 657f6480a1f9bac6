/** A service on a database that was restored from a backup, next to the data folder of its machine. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type RunningService, startService } from '../../src/compose/serve.ts';
import { loadConfig } from '../../src/config.ts';
import { readStatus } from '../../src/domain/health/status.ts';
import { recoverNumbers } from '../../src/domain/topups/recovery.ts';
import { KeyRing } from '../../src/kernel/secrets.ts';
import { MarkFile } from '../../src/store/service/mark-file.ts';
import { CHEAP_PASSWORDS } from '../support/cheap-passwords.ts';
import { createSandboxDatabase } from '../support/sandbox-database.ts';
import { SessionClient } from '../support/session-client.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';

/** Several machines share it. */
const KEY = KeyRing.generate();
const folders: string[] = [];
let scratch: Awaited<ReturnType<typeof createSandboxDatabase>>;
let running: RunningService | null = null;

const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-recovery-'));
  folders.push(folder);
  return folder;
};
const configFor = (dataDir: string) =>
  loadConfig({
    ...{ SKERRY_PORT: '0', SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent', SKERRY_SIM_BLOCK_S: '0' },
    SKERRY_SECRET_KEY: KEY,
  });

before(async () => {
  scratch = await createSandboxDatabase(configFor(await newFolder()));
});
after(async () => {
  await running?.stop();
  await scratch.drop();
  for (const folder of folders) await rm(folder, { recursive: true });
});

/** Starts the service of a machine, after stopping the previous one. */
async function start(dataDir: string, connection = scratch.connection): Promise<RunningService> {
  await running?.stop();
  running = await startService(configFor(dataDir), connection, { passwordCost: CHEAP_PASSWORDS });
  return running;
}

const order = async (api: V1Client, coin = 'LTC') => {
  const { status, body } = await api.post('/billing/topup', { coin, amount_usd: 50 });
  return { status, address: String(body.deposit_address), id: String(body.id), code: body.error?.code };
};

/** Sets the numbers to those of a backup, and forgets the invoices since. */
async function restore({ opened }: RunningService, coin: string, invoices: number): Promise<void> {
  const { db } = opened;
  await db.run(
    `delete from topups where id in (select id from topups order by created_at desc, id desc limit $1)`,
    [invoices],
  );
  await db.run('update coins set next_index = next_index - $2, given = given - $2 where code = $1', [
    ...[coin, invoices],
  ]);
}

test('a restored database is in recovery, sells no address twice, and continues after recover', async () => {
  const dataDir = await newFolder();
  let service = await start(dataDir);
  const customer = SessionClient.forUrl(service.url ?? '');
  await customer.signUp();
  const token = await createApiToken(customer, 'billing');
  const client = () => V1Client.forUrl(service.url ?? '', token);
  const known = await order(client());
  const unknown = [(await order(client())).address, (await order(client())).address];
  await restore(service, 'LTC', 2);

  service = await start(dataDir);
  const api = client();
  for (const [path, body] of [
    ['/billing/topup', { coin: 'LTC', amount_usd: 50 }],
    ['/servers', {}],
    ['/webhooks', { url: 'https://example.com/', events: ['*'] }],
  ] as const) {
    const { status, body: refused } = await api.post(path, body);
    assert.deepEqual([path, status, refused.error.code], [path, 503, 'maintenance']);
  }
  assert.equal((await api.get(`/billing/topup/${known.id}`)).status, 200);
  const findings = await readStatus(service.opened.service);
  assert.deepEqual(
    findings.filter(({ level }) => level === 'fail').map(({ subject, message }) => [subject, message]),
    [
      [
        'recovery',
        'LTC is at index 1, its mark at 3: 2 of its addresses were given out after the backup; ' +
          'run `skerryd recover`',
      ],
    ],
  );
  const { deposit_amount: amount } = (await api.get(`/billing/topup/${known.id}`)).body;
  const paid = await fetch(`${service.url}/sandbox/payments`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ coin: 'LTC', address: known.address, amount }),
  });
  assert.equal(paid.status, 200);
  await service.runner.runDue(performance.now() + 10_000);
  const { db } = service.opened;
  const readStatuses = async () =>
    (await db.rows<{ status: string }>('select status from topups')).map(({ status }) => status);
  assert.deepEqual(await readStatuses(), ['pending'], 'no job runs');

  const [recovered, ...others] = await recoverNumbers(service.opened.service);
  assert.deepEqual(others, []);
  assert.deepEqual([recovered?.coin, recovered?.next_index, recovered?.marked_index], ['LTC', 1n, 3n]);
  const next = await order(api);
  assert.equal(next.status, 201);
  assert.ok(![known.address, ...unknown].includes(next.address));
  const deadline = Date.now() + 10_000;
  while (!(await readStatuses()).includes('confirming')) {
    assert.ok(Date.now() < deadline, 'jobs run again');
    await service.runner.runDue(performance.now() + 1_000);
  }
  assert.deepEqual(await recoverNumbers(service.opened.service), []);
});

test('the highest mark of several machines counts, even of a machine that starts later', async () => {
  const [first, second] = [await newFolder(), await newFolder()];
  let service = await start(first);
  const customer = SessionClient.forUrl(service.url ?? '');
  await customer.signUp();
  const token = await createApiToken(customer, 'billing');
  await order(V1Client.forUrl(service.url ?? '', token), 'BTC');
  service = await start(second);
  for (let i = 0; i < 3; i++) await order(V1Client.forUrl(service.url ?? '', token), 'BTC');
  await restore(service, 'BTC', 3);

  service = await start(first);
  assert.equal((await order(V1Client.forUrl(service.url ?? '', token), 'BTC')).status, 201);
  service = await start(second);
  assert.equal((await order(V1Client.forUrl(service.url ?? '', token), 'BTC')).code, 'maintenance');
  service = await start(first);
  assert.equal((await order(V1Client.forUrl(service.url ?? '', token), 'BTC')).code, 'maintenance');
  const recovered = await recoverNumbers(service.opened.service);
  assert.deepEqual(
    recovered.map(({ coin, marked_index }) => [coin, marked_index]),
    [['BTC', 4n]],
  );
  assert.equal((await order(V1Client.forUrl(service.url ?? '', token), 'BTC')).status, 201);
});

test('a new database next to the folder of an old database starts normally', async () => {
  const dataDir = await newFolder();
  await start(dataDir);
  const fresh = await createSandboxDatabase(configFor(dataDir));
  const service = await start(dataDir, fresh.connection);
  const customer = SessionClient.forUrl(service.url ?? '');
  await customer.signUp();
  const api = V1Client.forUrl(service.url ?? '', await createApiToken(customer, 'billing'));
  assert.equal((await order(api)).status, 201);
  await service.stop();
  running = null;
  await fresh.drop();
});

test('an address whose mark cannot be written is not given out', async () => {
  const dataDir = await newFolder();
  const { opened } = await start(dataDir);
  const path = join(dataDir, 'a file');
  await new MarkFile(path).raise('LTC', { next_index: 1n, given: 1n, pool_place: 0n });
  const customer = SessionClient.forUrl(running?.url ?? '');
  await customer.signUp();
  const api = V1Client.forUrl(running?.url ?? '', await createApiToken(customer, 'billing'));
  const blocked = new MarkFile(join(path, 'below-a-file.log'));
  Object.assign(opened.service, { marks: blocked });
  const { status, body } = await api.post('/billing/topup', { coin: 'LTC', amount_usd: 50 });
  assert.deepEqual([status, body.error.errors[0].issue], [422, 'unavailable']);
});
