/** One live service with four coins and three real nodes on private networks: every payment is credited. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { AccountKey } from '../../src/drivers/chain/account-key.ts';
import { parseUnits } from '../../src/kernel/money.ts';
import { Anvil, NO_ANVIL } from '../drivers/chain/evm/anvil.ts';
import { contract } from '../drivers/chain/evm/contracts.ts';
import { OfflineWallet } from '../drivers/chain/evm/offline-wallet.ts';
import { type MoneroWorld, startMonero } from '../drivers/chain/monero/monero-world.ts';
import { NO_MONERO } from '../drivers/chain/monero/nodes.ts';
import { NO_LITECOIND, waitUntil } from '../drivers/chain/utxo/litecoin-node.ts';
import { LitecoinWorld, WATCH_WALLET } from '../drivers/chain/utxo/litecoin-world.ts';
import { StubFeeds } from '../drivers/rates/stub-feeds.ts';
import { createScratchDatabase } from '../support/database.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, type SkerrydProcess, startSkerryd } from '../support/skerryd-process.ts';
import { databaseUrl, nodeUrl, type ScratchConnection } from './live-world.ts';

const skip = FULL_ONLY.skip || NO_LITECOIND || NO_MONERO || NO_ANVIL;
const CODES = ['XMR', 'ETH', 'USDT', 'LTC'] as const;
type Code = (typeof CODES)[number];

interface Invoice {
  readonly ref: string;
  readonly address: string;
  readonly amount: string;
}

describe('a live service with four coins', { skip }, () => {
  const wallet = new OfflineWallet(new Uint8Array(32).fill(55));
  const tether = () => contract('Tether');
  let folder: string;
  let scratch: ScratchConnection;
  let feeds: StubFeeds;
  let litecoin: LitecoinWorld;
  let monero: MoneroWorld;
  let anvil: Anvil;
  let token: string;
  let env: Record<string, string>;
  let serving: SkerrydProcess;
  let customer: SessionClient;
  const invoices = new Map<Code, Invoice>();
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-live-'));
    await chmod(folder, 0o755);
    [scratch, feeds] = await Promise.all([createScratchDatabase(), StubFeeds.start()]);
    litecoin = await LitecoinWorld.start();
    monero = await startMonero();
    anvil = await Anvil.start();
    token = await anvil.deploy(tether().bytecode);
    env = {
      DATABASE_URL: databaseUrl(scratch),
      SKERRY_MODE: 'live',
      SKERRY_COMPUTE: 'qemu',
      SKERRY_QEMU_NETNS: 'skerry-test-nowhere',
      SKERRY_QEMU_HOSTS: 'nowhere',
      SKERRY_DATA_DIR: join(folder, 'data'),
      SKERRY_WORKER_POLL_MS: '100',
      SKERRY_LTC_URL: nodeUrl(litecoin.watcher.endpoint(WATCH_WALLET)),
      SKERRY_LTC_XPUB: litecoin.account.xpub,
      SKERRY_XMR_WALLET_URL: monero.wallet.node.url,
      SKERRY_XMR_DAEMON_URL: monero.daemon.node.url,
      SKERRY_XMR_ADDRESS: monero.address,
      SKERRY_XMR_SECOND_URL: monero.second.node.url,
      SKERRY_ETH_URL: anvil.url,
      SKERRY_ETH_XPUB: AccountKey.parse(wallet.publicKey).xpub,
      SKERRY_ETH_USDT: token,
      SKERRY_WORTHLESS_COINS: 'true',
      SKERRY_QUOTE_SOURCES: `kraken=${feeds.origin}/kraken,bitfinex=${feeds.origin}/bitfinex`,
      SKERRY_EURO_URL: feeds.ecb,
    };
    serving = await startSkerryd(env);
    customer = SessionClient.forUrl(serving.url);
    await customer.signUp();
  });
  after(async () => {
    await serving?.stop();
    killLeftovers();
    await Promise.all([litecoin?.close(), monero?.close(), anvil?.close(), feeds?.close()]);
    await scratch?.drop();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
  });

  const balance = async () => (await customer.get('/me.php')).body.balance;

  it('assigns the addresses that skerryd chain addresses prints', async () => {
    for (const coin of CODES) {
      await waitUntil(`${coin} is accepted`, async () => {
        const { body } = await customer.post('/topup-api.php', { action: 'create', amount: 40, coin });
        if (body.ok !== true) return false;
        const ref = String(body.order_ref);
        const { deposit_address, deposit_amount } = (await customer.get(`/topup-status.php?ref=${ref}`)).body;
        invoices.set(coin, { ref, address: String(deposit_address), amount: String(deposit_amount) });
        return true;
      });
      const { stdout } = await runSkerryd(['chain', 'addresses', coin, '--count', '3'], env);
      const { address } = invoices.get(coin) ?? assert.fail();
      assert.match(stdout, new RegExp(`^\\d +0/\\d +${coin} +${address} +given out$`, 'm'));
    }
  });

  it('credits each coin once it has the required confirmations', async () => {
    const due = (coin: Code, decimals: number) => {
      const { address, amount } = invoices.get(coin) ?? assert.fail();
      return { address, amount, amountUnits: parseUnits(amount, decimals) ?? assert.fail() };
    };
    const [xmr, eth, usdt, ltc] = [due('XMR', 12), due('ETH', 18), due('USDT', 6), due('LTC', 8)];
    await litecoin.pay(ltc.address, ltc.amount);
    await anvil.pay(eth.address, eth.amountUnits);
    const data = tether().call('transfer', usdt.address, usdt.amountUnits);
    await anvil.send(await anvil.prepare({ to: token, data }));
    await monero.include(await monero.miner.pay([xmr]));
    await litecoin.mine(2);
    await anvil.mine(12);
    await monero.mine(9);
    await waitUntil('three coins are credited', async () => (await balance()) === 120);
    // The second node has not received any block yet.
    const { ref } = invoices.get('XMR') ?? assert.fail();
    assert.equal((await customer.get(`/topup-status.php?ref=${ref}`)).body.status, 'confirming');
    await monero.daemon.relayBlocksTo(monero.second);
    await waitUntil('the fourth coin is credited', async () => (await balance()) === 160);
    const { code, stdout } = await runSkerryd(['verify'], env);
    assert.equal(code, 0, stdout);
  });

  it('passes skerryd chain doctor and stops cleanly', async () => {
    const { stdout } = await runSkerryd(['chain', 'doctor'], env);
    for (const coin of CODES) assert.match(stdout, new RegExp(`^OK +${coin} +block \\d+`, 'm'));
    assert.equal((await serving.stop()).code, 0);
  });
});
