import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../../support/runs.ts';
import { createApiToken } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { type Cli, createCli } from '../support/run-cli.ts';

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
    const { cycles } = await cli.json('plan', 'describe', 's2');
    const { stdout, stderr } = await cli('quote', '--plan', 's2', '--region', 'par');
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    const months = ['1 month', '3 months', '6 months', '12 months'];
    assert.deepEqual(
      rows.slice(1).map(([about]) => about),
      months.map((one) => `s2 in par, ${one}`),
    );
    for (const [at, { price_usd }] of cycles.entries()) {
      const [, due, , renews, left] = (rows[at + 1] ?? []).map(Number);
      assert.deepEqual(
        [due, renews, left],
        [price_usd, price_usd, Math.round(10_000 - price_usd * 100) / 100],
      );
    }
    assert.equal(stderr, '', 'the balance covers a server for a month');
  });

  it('skerry quote includes the bonus in the suggested top-up', async () => {
    const [yearly] = await cli.json('quote', '--plan', 'r2', '--billing-months', '12');
    const missing = yearly.due_now_usd - 100;
    assert.deepEqual([yearly.balance_after_usd, yearly.deficit_usd], [-missing, missing]);
    const { amount_usd: amount, bonus_usd: bonus } = yearly.topup;
    assert.ok(bonus > 0 && amount + bonus >= missing && amount < missing);
    const { stderr } = await cli('quote', '--plan', 'r2', '--billing-months', '12');
    assert.match(
      stderr,
      new RegExp(`skerry topup --amount-usd ${amount.toFixed(2)}, .* bonus of \\$${bonus}`),
    );
  });

  it('skerry quote --check exits with 7 and the reason if the order is not possible', async () => {
    assert.equal((await cli('quote', '--plan', 's2', '--region', 'par', '--check')).code, 0);
    const short = await cli('quote', '--plan', 'r2', '--region', 'par', '--billing-months', '12', '--check');
    assert.deepEqual([short.code, /skerry topup --amount-usd/.test(short.stderr)], [7, true]);
    const elsewhere = await cli('quote', '--plan', 'r3', '--region', 'buh', '--check');
    assert.deepEqual([elsewhere.code, /not sold in this region/.test(elsewhere.stderr)], [7, true]);
  });

  it('skerry quote works without a balance if the token may not read it', async () => {
    const [monthly] = await reader.json('quote', '--plan', 's1', '--region', 'par');
    assert.deepEqual([monthly.balance_after_usd, monthly.deficit_usd, monthly.topup], [null, null, null]);
    assert.equal(monthly.available, true);
  });

  it('skerry quote rejects an unknown plan, region, and billing cycle', async () => {
    assert.equal((await cli('quote', '--plan', 's9')).code, 5);
    assert.equal((await cli('quote', '--plan', 's1', '--region', 'xyz')).code, 5);
    assert.equal((await cli('quote')).code, 2);
    assert.equal((await cli('quote', '--plan', 's1', '--start', 'web-1')).code, 2);
    assert.equal((await cli('quote', '--delete', 'web-9')).code, 5);
    assert.equal((await cli('quote', '--plan', 's1', '--billing-months', '2')).code, 2);
  });
});
