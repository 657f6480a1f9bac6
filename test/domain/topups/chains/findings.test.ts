import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { chainFindings } from '../../../../src/domain/topups/chains/findings.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
  await world.createInvoice(100);
  world.btc.mine(5);
  await world.runUntilIdle();
});
after(() => world.close());
afterEach(async () => {
  Object.assign(world.btc.failures, { poll: 0, checkSafety: 0, health: 0, examine: 0 });
  world.btc.notes = [];
  world.btc.ok = true;
  await world.runUntilIdle();
});

async function findingLines(options = {}): Promise<string[]> {
  const findings = await chainFindings(world.service, options);
  return findings.map(({ level, subject, message }) => `${level} ${subject}: ${message}`);
}

async function btcFindingLines(options = {}): Promise<string[]> {
  return (await findingLines(options)).filter((line) => line.includes(' BTC: '));
}

test('each coin reports its node, the age of the latest block, and its reading', async () => {
  world.clock.advanceMinutes(130);
  await world.runUntilIdle();
  assert.deepEqual(await findingLines(), [
    'ok BTC: block 1005, mined 2 hours ago: scripted',
    'ok ETH: block 1000, mined 2 hours ago: scripted',
    'note ETH: no address has been given out yet, so there is nothing to read',
  ]);
});

test('an unhealthy node is reported along with its driver’s findings', async () => {
  world.btc.ok = false;
  world.btc.mine();
  world.btc.notes = [{ level: 'note', message: '12 addresses in a row are unused' }];
  await world.runUntilIdle();
  assert.deepEqual(await btcFindingLines(), [
    'fail BTC: block 1006, mined just now: scripted',
    'note BTC: 12 addresses in a row are unused',
  ]);
});

test('the driver is asked with the number of addresses given out', async () => {
  await world.createInvoice(100);
  await btcFindingLines();
  assert.equal(world.btc.examined.at(-1), 2);
});

test('a node that is unsafe or unreachable is reported once', async () => {
  world.btc.failures.checkSafety = 1;
  assert.deepEqual(
    (await btcFindingLines())[0],
    'fail BTC: the check of the node failed: scripted failure of checkSafety',
  );
  world.btc.failures.health = 1;
  world.btc.failures.examine = 1;
  assert.deepEqual(await btcFindingLines(), [
    'fail BTC: the node does not respond: scripted failure of health',
    'fail BTC: the examination failed: scripted failure of examine',
  ]);
});

test('a node that hangs does not delay the others', { timeout: 30_000 }, async () => {
  const { health } = world.btc;
  world.btc.health = () => new Promise(() => undefined);
  const lines = await findingLines({ patienceMs: 30 });
  world.btc.health = health;
  assert.ok(
    lines.includes('fail BTC: the node does not respond: timed out waiting for a response'),
    lines.join('\n'),
  );
  assert.ok(lines.some((line) => line.startsWith('ok ETH: block ')));
});

test('failed polls are reported with their reason, and many of them more severely', async () => {
  world.btc.failures.poll = 11;
  await world.watchJob.run();
  const [, first = ''] = await btcFindingLines();
  assert.match(first, /^note BTC: the last poll failed, read up to .* UTC: scripted failure of poll$/);
  for (let n = 0; n < 10; n++) {
    await world.db.run('update coins set retry_at = null');
    await world.watchJob.run();
  }
  const [, many = ''] = await btcFindingLines();
  assert.match(many, /^fail BTC: 11 polls failed in a row, read up to .* UTC: scripted failure of poll$/);
});

test('a node that fell back, or is ahead of the reader, is reported', async () => {
  const { height } = world.btc;
  world.btc.rewind(2);
  assert.ok(
    (await btcFindingLines()).includes(
      `fail BTC: the node is at block ${height - 2}, but was already read up to ${height}; ` +
        'waiting for it to catch up',
    ),
  );
  world.btc.resync();
  world.btc.mine(40);
  assert.match(
    (await btcFindingLines())[1] ?? '',
    /^note BTC: 40 blocks are not read yet; read up to .* UTC$/,
  );
});

test('a coin with addresses but no node is noted, as in status', async () => {
  const chain = world.btc;
  world.chains.delete('BTC');
  const lines = await btcFindingLines();
  world.chains.set('BTC', chain);
  assert.deepEqual(lines, [
    'note BTC: the node is no longer configured: payments to addresses already given out are not seen',
  ]);
});
