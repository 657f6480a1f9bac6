import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseMailData } from '../../../src/domain/mail/enqueue.ts';
import { SEALED } from '../../../src/spec/sealed.ts';
import { TopupWorld } from '../../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());

async function mails() {
  const rows = await world.db.rows<{ id: string; data_sealed: string }>(
    `select id, data_sealed from mails where kind = 'topup_credited' order by ctid`,
  );
  return rows.map(({ id, data_sealed }) => {
    const data = parseMailData(
      'topup_credited',
      world.service.keys.open(SEALED.mail, id, data_sealed).toString(),
    );
    return [data.coin, data.creditedCents, data.bonusCents, data.balanceCents];
  });
}

test('each payment is mailed once when it is credited, even after a reorg', async () => {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  await world.runUntilIdle();
  assert.deepEqual(await mails(), []);
  world.btc.mine(3);
  await world.runUntilIdle();
  assert.deepEqual(await mails(), [['BTC', 10_000n, 3_000n, 13_000n]]);
  world.btc.reorg(3);
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 0n);
  world.btc.mine(3);
  await world.runUntilIdle();
  assert.equal(await world.balance(topup), 13_000n);
  assert.equal((await mails()).length, 1);
  world.btc.pay(topup.deposit_address, 20_000n);
  world.btc.mine(3);
  await world.runUntilIdle();
  assert.deepEqual((await mails()).at(-1), ['BTC', 1_000n, 0n, 14_000n]);
});
