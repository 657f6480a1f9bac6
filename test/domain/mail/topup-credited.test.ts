import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseMailData } from '../../../src/domain/mail/enqueue.ts';
import type { MailData } from '../../../src/spec/mails/data.ts';
import type { MailKind } from '../../../src/spec/mails/kinds.ts';
import { SEALED } from '../../../src/spec/sealed.ts';
import { TopupWorld } from '../../support/topup-world.ts';

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());

async function mailData<Kind extends MailKind>(kind: Kind): Promise<MailData[Kind][]> {
  const rows = await world.db.rows<{ id: string; data_sealed: string }>(
    'select id, data_sealed from mails where kind = $1 order by ctid',
    [kind],
  );
  return rows.map(({ id, data_sealed }) =>
    parseMailData(kind, world.service.keys.open(SEALED.mail, id, data_sealed).toString()),
  );
}

const mails = async () =>
  (await mailData('topup_credited')).map((data) => [
    data.coin,
    data.creditedCents,
    data.bonusCents,
    data.balanceCents,
  ]);
const reversals = async () =>
  (await mailData('topup_reversed')).map((data) => [data.reversedCents, data.balanceCents, data.fate]);

test('each credit is mailed once, and each reversal by a reorg too', async () => {
  const topup = await world.createInvoice(100);
  world.btc.pay(topup.deposit_address, 200_000n);
  await world.runUntilIdle();
  assert.deepEqual(await mails(), []);
  world.btc.mine(3);
  await world.runUntilIdle();
  assert.deepEqual(await mails(), [['BTC', 10_000n, 3_000n, 13_000n]]);
  for (let round = 1; round <= 2; round++) {
    world.btc.reorg(3);
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), 0n);
    assert.deepEqual(await reversals(), Array(round).fill([13_000n, 0n, 'awaited']));
    world.btc.mine(3);
    await world.runUntilIdle();
    assert.equal(await world.balance(topup), 13_000n);
    assert.deepEqual(await mails(), Array(round + 1).fill(['BTC', 10_000n, 3_000n, 13_000n]));
  }
  world.btc.pay(topup.deposit_address, 20_000n);
  world.btc.mine(3);
  await world.runUntilIdle();
  assert.deepEqual((await mails()).at(-1), ['BTC', 1_000n, 0n, 14_000n]);
});
