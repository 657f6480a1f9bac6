import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Topup } from '@skerry/sdk';
import { encode } from 'uqr';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { type Cli, createCli } from '../support/run-cli.ts';
import { CTRL_C, runOnTerminal } from '../support/run-on-terminal.ts';

const POLL_MS = 20;
const DEADLINE_MS = 20_000;

describe('skerry topup', { concurrency: true, ...FULL_ONLY }, () => {
  let world: World;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
  });
  after(() => world.close());

  /** Creates a customer per test, so that the newest top-up is the test's own. */
  const account = async (scope: 'read' | 'billing' = 'billing') => {
    const token = await createApiToken(await world.customer(), scope);
    const v1 = V1Client.forUrl(world.url, token);
    const cli = createCli({ url: world.url, token });
    const made = async (): Promise<Topup> => {
      for (const deadlineMs = Date.now() + DEADLINE_MS; Date.now() < deadlineMs; ) {
        const { body } = await v1.get('/billing/topup');
        if (body.data[0]) return body.data[0];
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      throw new Error('no top-up was created');
    };
    return { cli, v1, made };
  };
  const pay = ({ coin, deposit_address: address, deposit_amount }: Topup, share = 1) =>
    world.sandbox('payments', { coin, address, amount: String(Number(deposit_amount) * share) });
  const confirm = async ({ coin }: Topup, count: number) => {
    await world.sandbox('blocks', { coin, count });
    await world.settle();
  };
  const paid = async (topup: Topup, share = 1) => {
    await pay(topup, share);
    await confirm(topup, 30);
  };
  const waits = (cli: Cli, ...words: string[]) => cli('topup', '--amount-usd', '100', ...words);

  it('topup waits for the credit and prints a single JSON object', async () => {
    const { cli, made } = await account();
    const running = waits(cli, '--coin', 'LTC', '-o', 'json');
    const topup = await made();
    await paid(topup);
    const { code, stdout, stderr } = await running;
    assert.equal(code, 0, stderr);
    const { status, credited_usd, bonus_usd } = JSON.parse(stdout);
    assert.deepEqual([status, credited_usd, bonus_usd], ['credited', 100, 30]);
    assert.ok(stderr.includes(topup.deposit_address) && stderr.includes('is lost'), stderr);
  });

  it('topup on a terminal shows a QR code, confirmations, and the credited amount', async () => {
    const { cli, made } = await account();
    const twice = async () => {
      const topup = await made();
      await pay(topup, 2);
      return topup;
    };
    const keys = [
      { after: 'Coin: ', press: 'xmr\r' },
      { after: /Amount in US dollars.*: /, press: '50\r' },
      { after: 'waiting for the payment', act: async () => confirm(await twice(), 3) },
      { after: 'payment received: 3 of 10 confirmations', act: async () => confirm(await made(), 30) },
    ];
    const { code, screen } = await runOnTerminal({ env: cli.env, keys }, 'topup');
    const { payment_uri } = await made();
    assert.equal(code, 0, screen);
    assert.deepEqual(modulesOf(screen), encode(payment_uri, { ecc: 'L', border: 4 }).data);
    assert.match(screen, /USDTTRC +Tether +on Tron \(TRC-20\)/);
    assert.match(screen, /waiting for the payment … \d+ minutes left/);
    assert.match(screen, /\$100\.00 is on your balance/);
    assert.match(screen, /You paid \$50\.00 more than requested/);
  });

  it('topup shows the credited amount and the rest of an underpaid top-up', async () => {
    const { cli, made } = await account();
    const running = runOnTerminal(
      { env: cli.env, columns: 30 },
      'topup',
      '--coin',
      'BTC',
      '--amount-usd',
      '60',
    );
    const topup = await made();
    await paid(topup, 0.5);
    const { code, screen } = await running;
    assert.equal(code, 0, screen);
    assert.match(screen, /You paid \$30\.00 less than requested\. The amount you paid is credited/);
    assert.match(screen, /too narrow for a QR code/);
    // Paying the rest that it names completes the top-up.
    const [, amount] = /Send +([\d.]+) BTC\r?\nto /.exec(screen) ?? [];
    const { coin, deposit_address: address } = topup;
    await world.sandbox('payments', { coin, address, amount });
    await confirm(topup, 30);
    assert.equal((await cli.json('topup', 'describe', topup.id)).credited_usd, 60);
    const later = await runOnTerminal({ env: cli.env, columns: 120 }, 'topup', 'describe', topup.id, '--qr');
    assert.match(later.screen, /No QR code: the top-up is credited/);
    assert.ok(!later.screen.includes('▀'), later.screen);
  });

  it('topup exits with 130 on Ctrl-C, and says how to check the open top-up', async () => {
    const { cli, made } = await account();
    const keys = [{ after: 'minutes left', press: CTRL_C }];
    const words = ['topup', '--coin', 'ETH', '--amount-usd', '30', '--no-qr'];
    const { code, screen } = await runOnTerminal({ env: cli.env, keys }, ...words);
    const { id, status } = await made();
    assert.deepEqual([code, status], [130, 'pending'], screen);
    assert.ok(screen.includes(`skerry topup describe ${id}`), screen);
    assert.ok(!screen.includes('▀'), screen);
  });

  it('topup --no-wait returns a pending top-up that topup describe --wait waits for', async () => {
    const { cli } = await account();
    const topup = await cli.json('topup', 'create', '--coin', 'TRX', '--amount-usd', '30.5', '--no-wait');
    assert.deepEqual([topup.status, topup.amount_usd], ['pending', 30.5]);
    assert.deepEqual(await cli.json('topup', 'list', '--status', 'pending'), [topup]);
    assert.equal((await cli('topup', 'describe', topup.id, '--wait', '--timeout', '1')).code, 9);
    await paid(topup);
    const last = await cli.json('topup', 'describe', topup.id, '--wait');
    assert.equal(last.credited_usd, 30.5);
  });

  it('topup without a terminal asks nothing, and creates nothing for invalid input', async () => {
    const { cli, v1 } = await account();
    for (const words of [
      [],
      ['--coin', 'LTC'],
      ['--coin', 'DOGE', '--amount-usd', '50'],
      ['--coin', 'LTC', '--amount-usd', '29'],
      ['--coin', 'LTC', '--amount-usd', '50', '-o', 'columns=nothing'],
      ['create', 'more'],
    ]) {
      const { code, stderr } = await cli('topup', ...words);
      assert.deepEqual([code, stderr.startsWith('skerry: ')], [2, true], stderr);
    }
    assert.deepEqual((await v1.get('/billing/topup')).body.data, []);
    const reader = await account('read');
    assert.equal((await waits(reader.cli, '--coin', 'LTC')).code, 4);
  });
});

describe('skerry topup without a credit', FULL_ONLY, () => {
  let world: World;
  let cli: Cli;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    cli = createCli({ url: world.url, token: await createApiToken(await world.customer()) });
  });
  after(() => world.close());

  const create = () => cli.json('topup', '--coin', 'LTC', '--amount-usd', '40', '--no-wait');

  it('topup describe --wait exits with 10 and support instructions while credits are withheld', async () => {
    const topup = await create();
    await setSwitch(world.opened.service, 'topup-credit', false);
    const { coin, deposit_address: address, deposit_amount: amount } = topup;
    await world.sandbox('payments', { coin, address, amount });
    await world.sandbox('blocks', { coin, count: 30 });
    await world.settle();
    await setSwitch(world.opened.service, 'topup-credit', true);
    const { code, stdout, stderr } = await cli('topup', 'describe', topup.id, '--wait');
    assert.deepEqual([code, stdout.includes(topup.id)], [10, true]);
    assert.match(stderr, /credits are currently withheld. Your money is not lost/);
    assert.ok(stderr.includes(topup.id));
  });

  it('topup create prints the top-up on stdout when the wait times out', async () => {
    const words = ['--coin', 'LTC', '--amount-usd', '40', '--timeout', '1', '-o', 'json'];
    const { code, stdout } = await cli('topup', 'create', ...words);
    assert.equal(code, 9);
    const { id, status } = JSON.parse(stdout);
    assert.deepEqual([(await cli.json('topup', 'describe', id)).id, status], [id, 'pending']);
  });

  it("topup describe --wait uses the service's clock and exits with 10 after the expiration", async () => {
    const topup = await create();
    await world.advance(50 * 60);
    const keys = [{ after: / left/, press: CTRL_C }];
    const { screen } = await runOnTerminal({ env: cli.env, keys }, 'topup', 'describe', topup.id, '--wait');
    assert.match(screen, /waiting for the payment … (9|10) minutes left/);
    await world.advance(2 * 3_600);
    const { code, stderr } = await cli('topup', 'describe', topup.id, '--wait');
    assert.equal(code, 10);
    assert.match(stderr, /This top-up has expired\. Do not pay it/);
  });
});

/** Reads the modules of the QR code from the screen. */
function modulesOf(screen: string): boolean[][] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finds the code by its colors.
  const lines = [...screen.matchAll(/\u001b\[38;5;16;48;5;231m([█▀▄ ]+)\u001b\[0m/g)].map(
    ([, line]) => line ?? '',
  );
  const rows = lines.flatMap((line) => [
    [...line].map((block) => block === '█' || block === '▀'),
    [...line].map((block) => block === '█' || block === '▄'),
  ]);
  // The code is square; an odd number of rows leaves half of the last line unused.
  return rows.slice(0, rows[0]?.length);
}
