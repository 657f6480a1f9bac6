/**
 * A live service as its operator runs it, with a real Litecoin node on a private network: from sign-up to a
 * balance.
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openDatabase } from '../../src/store/db.ts';
import { NO_LITECOIND, waitUntil } from '../drivers/chain/utxo/litecoin-node.ts';
import { LitecoinWorld, PAYER_WALLET, WATCH_WALLET } from '../drivers/chain/utxo/litecoin-world.ts';
import { StubFeeds } from '../drivers/rates/stub-feeds.ts';
import { createScratchDatabase } from '../support/database.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { databaseUrl, nodeUrl, type ScratchConnection } from './live-world.ts';

const LIVE_COIN = { skip: FULL_ONLY.skip || NO_LITECOIND };

describe('a live service with litecoind', LIVE_COIN, () => {
  let folder: string;
  let scratch: ScratchConnection;
  let feeds: StubFeeds;
  let chain: LitecoinWorld;
  let env: Record<string, string>;
  let serving: SkerrydProcess;
  let customer: SessionClient;
  let address: string;
  let orderRef: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-live-'));
    await chmod(folder, 0o755);
    [scratch, feeds, chain] = await Promise.all([
      createScratchDatabase(),
      StubFeeds.start(),
      LitecoinWorld.start(),
    ]);
    env = {
      DATABASE_URL: databaseUrl(scratch),
      SKERRY_MODE: 'live',
      SKERRY_COMPUTE: 'qemu',
      SKERRY_QEMU_NETNS: 'skerry-test-nowhere',
      SKERRY_QEMU_HOSTS: 'nowhere',
      SKERRY_DATA_DIR: join(folder, 'data'),
      SKERRY_WORKER_POLL_MS: '100',
      SKERRY_LTC_URL: nodeUrl(chain.watcher.endpoint(WATCH_WALLET)),
      SKERRY_LTC_XPUB: chain.account.xpub,
      SKERRY_WORTHLESS_COINS: 'true',
      SKERRY_QUOTE_SOURCES: `kraken=${feeds.origin}/kraken,bitfinex=${feeds.origin}/bitfinex`,
      SKERRY_EURO_URL: feeds.ecb,
    };
    serving = await startSkerryd(env);
    customer = SessionClient.forUrl(serving.url);
  });
  after(async () => {
    await serving?.stop();
    killLeftovers();
    await Promise.all([chain?.close(), feeds?.close(), scratch?.drop()]);
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  /** Lists the tables that contain the text, including errors recorded by failed polls. */
  async function tablesWith(text: string): Promise<string[]> {
    const db = openDatabase(scratch.connection, { poolSize: 1 });
    const tables = await db.rows<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
        where table_schema not in ('pg_catalog', 'information_schema')`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const row = await db.row(`select 1 from ${name} t where position($1 in t::text) > 0 limit 1`, [text]);
      if (row) found.push(name);
    }
    await db.close();
    assert.ok(tables.length > 30);
    return found;
  }

  const invoice = async () => (await customer.get(`/topup-status.php?ref=${orderRef}`)).body;

  it('assigns an address of the operator’s own wallet, at the rate of the feeds', async () => {
    await customer.signUp();
    await waitUntil('a rate is available', async () => {
      const order = { action: 'create', amount: 40, coin: 'LTC' };
      const { body } = await customer.post('/topup-api.php', order);
      orderRef = String(body.order_ref);
      return body.ok === true;
    });
    const { status, deposit_address, deposit_amount } = await invoice();
    address = String(deposit_address);
    assert.deepEqual([status, deposit_amount], ['waiting', '0.4996877']);
    const shown = await runSkerryd(['topups', 'show', orderRef], env);
    assert.match(shown.stdout, /^quotes +(?=.*kraken 80 at 20)(?=.*bitfinex 80\.1 at 20)/m);
    const { code, stdout } = await runSkerryd(['chain', 'addresses', 'LTC', '--count', '5'], env);
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`^\\d +0/\\d +LTC +${address} +given out$`, 'm'));
  });

  it('credits a payment once it has the required confirmations', async () => {
    await chain.pay(address, String((await invoice()).deposit_amount));
    await waitUntil('the payment is seen', async () => (await invoice()).status === 'confirming');
    assert.equal((await customer.get('/me.php')).body.balance, 0);
    await chain.mine(2);
    await waitUntil('the payment is credited', async () => (await invoice()).status === 'confirmed');
    assert.equal((await customer.get('/me.php')).body.balance, 40);
  });

  it('offers no sandbox endpoint and shows no sandbox notice', async () => {
    for (const name of ['payments', 'blocks', 'clock', 'settle']) {
      const response = await fetch(`${serving.url}/sandbox/${name}`, { method: 'POST', body: '{}' });
      assert.equal(response.status, 404);
    }
    const { text } = await customer.get('/billing');
    assert.doesNotMatch(text, /This is a sandbox|class="badge"|simulated/);
  });

  it('passes skerryd chain doctor, and skerryd status has no alarm about it', async () => {
    await waitUntil('the doctor finds no problem', async () => {
      const { code, stdout } = await runSkerryd(['chain', 'doctor'], env);
      assert.match(stdout, /^OK +LTC +block 112, /m);
      return code === 0;
    });
    const whole = await runSkerryd(['doctor'], env);
    assert.equal(whole.code, 1);
    assert.match(whole.stdout, /^OK +going live +live$/m);
    assert.match(whole.stdout, /^FAIL +going live +SKERRY_WORTHLESS_COINS: /m);
    assert.match(whole.stdout, /^OK +LTC +block 112, /m);
    assert.match(whole.stdout, /^OK +rates +LTC: 80\.05 from 2 of 2 sources/m);
    const { stdout } = await runSkerryd(['status'], env);
    assert.doesNotMatch(stdout, /^(?:WARN|FAIL) +(?:coins|chains) /m);
    assert.match(stdout, /^NOTE +coins +coins of test networks, [^\n]*, are credited/m);
  });

  it('prints its coins and a warning, stops in time, and logs no password and no key', async () => {
    const end = await serving.stop();
    assert.equal(end.code, 0, end.stderr);
    assert.match(end.stdout, /^Live\. Accepted coins: LTC\.$/m);
    assert.match(end.stderr, /^skerryd: SKERRY_WORTHLESS_COINS: /m);
    const output = end.stdout + end.stderr;
    assert.ok(!output.includes('a-password-of-tests') && !output.includes(chain.account.xpub));
  });

  it('rejects a wallet that can spend, and coins of a test network as real coins', async () => {
    const spending = {
      ...env,
      SKERRY_PORT: '0',
      SKERRY_LTC_URL: nodeUrl(chain.payer.endpoint(PAYER_WALLET)),
    };
    const first = await runSkerryd(['serve'], spending);
    assert.equal(first.code, 1);
    assert.match(first.stderr, /^skerryd: SKERRY_LTC_URL: the wallet can hold private keys[^\n]*\n$/m);
    const before = await runSkerryd(['serve'], { ...env, SKERRY_PORT: '0', SKERRY_WORTHLESS_COINS: 'false' });
    assert.match(before.stderr, /^skerryd: this database accepts coins of test networks[^\n]*\n$/);
    const fresh = await createScratchDatabase();
    const place = { DATABASE_URL: databaseUrl(fresh), SKERRY_DATA_DIR: join(folder, 'fresh') };
    const onFresh = { ...env, ...place, SKERRY_PORT: '0', SKERRY_WORTHLESS_COINS: 'false' };
    const real = await runSkerryd(['serve'], onFresh);
    await fresh.drop();
    assert.equal(real.code, 1);
    assert.match(real.stderr, /^skerryd: SKERRY_LTC_URL: .*regtest[^\n]*\n$/m);
    const sandbox = { DATABASE_URL: env.DATABASE_URL ?? '', SKERRY_DATA_DIR: join(folder, 'other') };
    const other = await runSkerryd(['serve'], { ...sandbox, SKERRY_PORT: '0' });
    assert.match(other.stderr, /^skerryd: this is a live database/);
  });

  it('starts while its node is down, with one warning, and recovers when the node is back', async () => {
    await chain.watcher.stop();
    serving = await startSkerryd(env, ['--processes', '2']);
    await chain.watcher.start();
    customer = SessionClient.forUrl(serving.url);
    await customer.signUp();
    await waitUntil('an address is assigned again', async () => {
      const { body } = await customer.post('/topup-api.php', { action: 'create', amount: 40, coin: 'LTC' });
      return body.ok === true;
    });
    const end = await serving.stop();
    assert.equal(end.code, 0);
    for (const secret of ['a-password-of-tests', chain.account.xpub, chain.account.tpub]) {
      assert.ok(!(end.stdout + end.stderr).includes(secret), 'in the log');
      assert.deepEqual(await tablesWith(secret), []);
    }
    assert.equal(end.stderr.match(/^skerryd: SKERRY_LTC_URL: .*cannot be reached/gm)?.length, 1);
  });
});
