import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Topup } from '@skerry/sdk';
import { encode } from 'uqr';
import { setSwitch } from '../../src/domain/switches/switch.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';
import { type Cli, createCli } from './support/run-cli.ts';
import { CTRL_C, runOnTerminal } from './support/run-on-terminal.ts';

const LOOK_MS = 20;
const DEADLINE_MS = 20_000;

describe('skerry topup', { concurrency: true, ...FULL_ONLY }, () => {
  let world: World;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
  });
  after(() => world.close());

  /** A customer of his own, so that the newest top-up is the one that the test made. */
  const account = async (scope: 'read' | 'billing' = 'billing') => {
    const token = await createApiToken(await world.customer(), scope);
    const v1 = V1Client.forUrl(world.url, token);
    const cli = createCli({ url: world.url, token });
    const made = async (): Promise<Topup> => {
      for (const deadlineMs = Date.now() + DEADLINE_MS; Date.now() < deadlineMs; ) {
        const { body } = await v1.get('/billing/topup');
        if (body.data[0]) return body.data[0];
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
      throw new Error('no top-up was made');
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

  it('waits until it is credited, and prints that alone as JSON', async () => {
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

  it('shows a person a code to scan, confirmations as they come, and what is on the balance', async () => {
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
      { after: 'paid; 3 of 10 confirmations', act: async () => confirm(await made(), 30) },
    ];
    const { code, screen } = await runOnTerminal({ env: cli.env, keys }, 'topup');
    const { payment_uri } = await made();
    assert.equal(code, 0, screen);
    assert.deepEqual(modulesOf(screen), encode(payment_uri, { ecc: 'L', border: 4 }).data);
    assert.match(screen, /USDTTRC +Tether +on Tron \(TRC-20\)/);
    assert.match(screen, /waiting for the payment … \d+ minutes left/);
    assert.match(screen, /\$100\.00 is on your balance/);
    assert.match(screen, /all of it counts, \$50\.00 more/);
  });

  it('says what arrived when it is less than was asked', async () => {
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
    assert.match(screen, /\$30\.00 less arrived than was asked\. What arrived counts/);
    assert.match(screen, /too narrow for the QR code/);
    // The rest that it names makes it whole.
    const [, amount] = /Send +([\d.]+) BTC\r?\nto /.exec(screen) ?? [];
    const { coin, deposit_address: address } = topup;
    await world.sandbox('payments', { coin, address, amount });
    await confirm(topup, 30);
    assert.equal((await cli.json('topup', 'describe', topup.id)).credited_usd, 60);
    const later = await runOnTerminal({ env: cli.env, columns: 120 }, 'topup', 'describe', topup.id, '--qr');
    assert.match(later.screen, /No QR code: the top-up is credited/);
    assert.ok(!later.screen.includes('▀'), later.screen);
  });

  it('is left by Ctrl-C with 130: the top-up stays open, and it says how to look again', async () => {
    const { cli, made } = await account();
    const keys = [{ after: 'minutes left', press: CTRL_C }];
    const words = ['topup', '--coin', 'ETH', '--amount-usd', '30', '--no-qr'];
    const { code, screen } = await runOnTerminal({ env: cli.env, keys }, ...words);
    const { id, status } = await made();
    assert.deepEqual([code, status], [130, 'pending'], screen);
    assert.ok(screen.includes(`skerry topup describe ${id}`), screen);
    assert.ok(!screen.includes('▀'), screen);
  });

  it('does not wait with --no-wait, is listed, and is waited for later', async () => {
    const { cli } = await account();
    const topup = await cli.json('topup', 'create', '--coin', 'TRX', '--amount-usd', '30.5', '--no-wait');
    assert.deepEqual([topup.status, topup.amount_usd], ['pending', 30.5]);
    assert.deepEqual(await cli.json('topup', 'list', '--status', 'pending'), [topup]);
    assert.equal((await cli('topup', 'describe', topup.id, '--wait', '--timeout', '1')).code, 9);
    await paid(topup);
    const last = await cli.json('topup', 'describe', topup.id, '--wait');
    assert.equal(last.credited_usd, 30.5);
  });

  it('asks nobody where there is no terminal, and makes nothing of a wrong word', async () => {
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

describe('skerry topup, when it is not credited', FULL_ONLY, () => {
  let world: World;
  let cli: Cli;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    cli = createCli({ url: world.url, token: await createApiToken(await world.customer()) });
  });
  after(() => world.close());

  const create = () => cli.json('topup', '--coin', 'LTC', '--amount-usd', '40', '--no-wait');

  it('ends with 10 and the way to a refund while credits are held', async () => {
    const topup = await create();
    await setSwitch(world.opened.service, 'topup-credit', false);
    const { coin, deposit_address: address, deposit_amount: amount } = topup;
    await world.sandbox('payments', { coin, address, amount });
    await world.sandbox('blocks', { coin, count: 30 });
    await world.settle();
    await setSwitch(world.opened.service, 'topup-credit', true);
    const { code, stdout, stderr } = await cli('topup', 'describe', topup.id, '--wait');
    assert.deepEqual([code, stdout.includes(topup.id)], [10, true]);
    assert.match(stderr, /credits are held at the moment. Nothing is lost/);
    assert.ok(stderr.includes(topup.id));
  });

  it('prints what was made on stdout when the waiting ends before it is paid', async () => {
    const words = ['--coin', 'LTC', '--amount-usd', '40', '--timeout', '1', '-o', 'json'];
    const { code, stdout } = await cli('topup', 'create', ...words);
    assert.equal(code, 9);
    const { id, status } = JSON.parse(stdout);
    assert.deepEqual([(await cli.json('topup', 'describe', id)).id, status], [id, 'pending']);
  });

  it('counts the time by the clock of the service, and ends with 10 when it is over', async () => {
    const topup = await create();
    await world.advance(50 * 60);
    const keys = [{ after: / left/, press: CTRL_C }];
    const { screen } = await runOnTerminal({ env: cli.env, keys }, 'topup', 'describe', topup.id, '--wait');
    assert.match(screen, /waiting for the payment … (9|10) minutes left/);
    await world.advance(2 * 3_600);
    const { code, stderr } = await cli('topup', 'describe', topup.id, '--wait');
    assert.equal(code, 10);
    assert.match(stderr, /Do not pay it any more/);
  });
});

/** The code as it stands on the screen, module by module. */
function modulesOf(screen: string): boolean[][] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of the code are looked for.
  const lines = [...screen.matchAll(/\u001b\[38;5;16;48;5;231m([█▀▄ ]+)\u001b\[0m/g)].map(
    ([, line]) => line ?? '',
  );
  const rows = lines.flatMap((line) => [
    [...line].map((block) => block === '█' || block === '▀'),
    [...line].map((block) => block === '█' || block === '▄'),
  ]);
  // The code is square; of an odd number of rows the last line shows one and a half.
  return rows.slice(0, rows[0]?.length);
}
