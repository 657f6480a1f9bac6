import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { minimumTopup } from '../../../packages/cli/src/commands/quote.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { type Cli, createCli } from '../support/run-cli.ts';

it('the smallest top-up for a shortfall includes its bonus', () => {
  for (const [missing, amountUsd, bonusUsd] of [
    [0.01, 30, 0],
    [99.99, 99.99, 0],
    [100, 100, 30],
    [130, 100, 30],
    [130.01, 100.01, 30],
    [300, 250, 100],
    [800, 500, 300],
    [1_500, 1_000, 700],
    [1_700.01, 1_000.01, 700],
  ] as const) {
    assert.deepEqual(minimumTopup(missing), { amountUsd, bonusUsd }, String(missing));
  }
});

describe('skerry balance and quote', { concurrency: true, ...FULL_ONLY }, () => {
  let world: World;
  let cli: Cli;
  let reader: Cli;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    const customer = await world.customer();
    await world.addBalance(customer, 10_000n);
    cli = createCli({ url: world.url, token: await createApiToken(customer) });
    reader = createCli({ url: world.url, token: await createApiToken(customer, 'read') });
  });
  after(() => world.close());

  it('skerry balance requires a token with scope billing', async () => {
    const { stdout } = await cli('balance', '-o', 'columns=usd,active_servers', '--no-header');
    assert.equal(stdout, '100.00   0\n');
    const { code, stderr } = await reader('balance');
    assert.deepEqual([code, /wider scope/.test(stderr)], [4, true]);
  });

  it('skerry account shows the account and the token', async () => {
    const { stdout } = await cli('account', '-o', 'columns=status,token_scope', '--no-header');
    assert.match(stdout, /^active +billing\n$/);
    const own = await cli.json('account');
    assert.deepEqual([own.object, own.id.slice(0, 4), own.email.includes('@')], ['account', 'cus_', true]);
    assert.equal((await reader.json('account')).email, null);
  });

  it('skerry limits lists the quotas and how much of each is used', async () => {
    const { stdout } = await cli('limits', '-o', 'columns=name,used,limit', '--no-header');
    assert.match(stdout, /^servers +0 +50$/m);
    assert.match(stdout, /^api_tokens +2 +50$/m);
  });

  it('skerry quote shows all billing cycles with the remaining balance', async () => {
    const plan = (await cli.json('plan', 'describe', 's2')).cycles;
    const { stdout, stderr } = await cli('quote', '--plan', 's2', '--count', '3');
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    assert.deepEqual(
      rows.slice(1).map((row) => row.slice(0, 2)),
      [
        ['1', '0 %'],
        ['3', '25 %'],
        ['6', '35 %'],
        ['12', '50 %'],
      ],
    );
    for (const [at, { price_usd }] of plan.entries()) {
      const [, , , each, total, left] = (rows[at + 1] ?? []).map(Number);
      assert.deepEqual([each, total], [price_usd, Math.round(price_usd * 300) / 100]);
      assert.equal(left, Math.round(10_000 - price_usd * 300) / 100);
    }
    assert.equal(stderr, '', 'the balance covers three servers for a month');
  });

  it('skerry quote includes the bonus in the suggested top-up', async () => {
    const { cycles, balance_usd } = await cli.json(
      'quote',
      '--plan',
      's2',
      '--billing-months',
      '12',
      '--count',
      '3',
    );
    const [cycle] = cycles;
    assert.equal(cycles.length, 1);
    const missing = -cycle.balance_after_usd;
    assert.equal(balance_usd, 100);
    // 264.60 less 100.00, with the bonus of $30 for top-ups from $100.
    assert.deepEqual([missing, cycle.topup_usd, cycle.topup_bonus_usd], [164.6, 134.6, 30]);
  });

  it('skerry quote --check exits with 7 and the reason if the order is not possible', async () => {
    assert.equal((await cli('quote', '--plan', 's2', '--region', 'par', '--check')).code, 0);
    const short = await cli('quote', '--plan', 's2', '--count', '50', '--check');
    assert.deepEqual([short.code, /skerry topup --amount-usd/.test(short.stderr)], [7, true]);
  });

  it('skerry quote works without a balance if the token may not read it', async () => {
    const { balance_usd, cycles } = await reader.json('quote', '--plan', 's1', '--region', 'par');
    assert.deepEqual([balance_usd, cycles[0].balance_after_usd, cycles[0].topup_usd], [null, null, null]);
  });

  it('skerry quote rejects an unknown plan, region, and billing cycle', async () => {
    assert.equal((await cli('quote', '--plan', 's9')).code, 5);
    assert.equal((await cli('quote', '--plan', 's1', '--region', 'xyz')).code, 5);
    assert.equal((await cli('quote')).code, 2);
    assert.equal((await cli('quote', '--plan', 's1', '--billing-months', '2')).code, 2);
  });
});
