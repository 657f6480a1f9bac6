import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cancelTopup } from '../../src/domain/topups/cancel.ts';
import { createTopup } from '../../src/domain/topups/create.ts';
import { topupView } from '../../src/domain/topups/object.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { Duty } from '../../src/workers/duty.ts';
import { expireTopupsDuty } from '../../src/workers/expire-topups.ts';
import { TopupWorld } from '../support/topup-world.ts';

let world: TopupWorld;
let duty: Duty;
before(async () => {
  world = await TopupWorld.start();
  duty = expireTopupsDuty(world.service);
});
after(() => world.close());

test('an invoice expires when its time is up, not before', async () => {
  const topup = await world.invoice(100);
  assert.deepEqual(await duty.nextDue(), topup.expires_at);
  world.clock.advanceMinutes(59.99);
  assert.equal(await duty.run(), 0);
  world.clock.advanceMinutes(0.01);
  assert.equal(await duty.run(), 1);
  assert.equal(await duty.run(), 0);
  assert.equal(await duty.nextDue(), null);
  assert.equal(topupView(await world.topup(topup)).status, 'expired');
  const events = await world.events(topup);
  assert.deepEqual(
    events.map(({ type, topup: at }) => [type, at.status]),
    [['topup.expired', 'expired']],
  );
  assert.deepEqual(await world.audit(topup), ['topup.create', 'topup.expire']);
});

test('cancelled, paid and confirming invoices do not expire', async () => {
  const cancelled = await world.invoice(100);
  const actor = { ...(await world.customer()), customerId: cancelled.customer_id };
  await cancelTopup(world.service, actor, cancelled.order_ref);
  const paid = await world.invoice(100);
  world.btc.pay(paid.deposit_address, 200_000n);
  world.btc.mine();
  const confirming = await world.invoice(100);
  await world.settle();
  world.btc.pay(confirming.deposit_address, 200_000n);
  await world.settle();
  world.clock.advanceMinutes(120);
  assert.equal(await duty.run(), 0);
  assert.equal((await world.topup(paid)).status, 'credited');
  assert.equal((await world.topup(confirming)).status, 'confirming');
  assert.deepEqual(await world.events(cancelled), []);
});

test('many invoices expire in batches, each once, however many processes do it', async () => {
  const actors = await Promise.all(Array.from({ length: 12 }, () => world.customer()));
  const order = { coin: 'BTC', amountCents: 3_000n } as const;
  for (const actor of actors) {
    await Promise.all(Array.from({ length: 10 }, () => createTopup(world.service, actor, order)));
  }
  world.clock.advanceMinutes(61);
  const runs = await Promise.all([duty.run(), expireTopupsDuty(world.service).run()]);
  assert.ok(Math.max(...runs) <= 100);
  assert.equal(runs.reduce((sum, count) => sum + count, 0) + (await duty.run()), 120);
  const events = await world.db.row<{ n: bigint }>(
    `select count(*) as n from events where type = 'topup.expired' and customer_id = any($1)`,
    [actors.map((actor) => actor.customerId)],
  );
  assert.equal(events?.n, 120n);
});

test('one that cannot be ended is logged and left alone: it stops neither the others nor the clock', async () => {
  const broken = await world.invoice(100);
  const sound = await world.invoice(100);
  // No event of its customer can be written: nothing of this invoice can be recorded.
  const guard = `create function refuse_event() returns trigger language plpgsql as $$
    begin raise exception 'no event for this one' using errcode = 'XX000'; end $$`;
  await world.db.run(guard);
  await world.db.run(
    `create trigger refuse_event before insert on events for each row
       when (new.customer_id = '${broken.customer_id}') execute function refuse_event()`,
  );
  const logged: { err?: Error; topup?: string }[] = [];
  const log = { error: (line: object) => logged.push(line) } as unknown as Logger;
  const careful = expireTopupsDuty({ ...world.service, log });
  world.clock.advanceMinutes(61);
  while ((await careful.run()) > 0);
  assert.equal((await world.topup(sound)).status, 'expired');
  assert.equal((await world.topup(broken)).status, 'pending');
  assert.deepEqual(await world.audit(broken), ['topup.create']);
  assert.equal(logged.length, 1);
  assert.equal(logged[0]?.topup, broken.id);
  assert.match(String(logged[0]?.err?.message), /no event for this one/);
  assert.equal(await careful.nextDue(), null);
  await world.db.run('drop trigger refuse_event on events');
  assert.equal(await expireTopupsDuty(world.service).run(), 1);
  assert.equal((await world.topup(broken)).status, 'expired');
});

test('a run that loses the database fails as a whole, and blames no invoice', async () => {
  const topup = await world.invoice(100);
  world.clock.advanceMinutes(61);
  const away = Object.assign(new Error('away'), { code: '57P01' });
  const db = { ...world.db, transaction: () => Promise.reject(away) };
  const cut = expireTopupsDuty({ ...world.service, db });
  await assert.rejects(cut.run(), away);
  assert.deepEqual(await cut.nextDue(), topup.expires_at);
  assert.equal(await duty.run(), 1);
});
