import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTopup } from '../../src/domain/topups/create.ts';
import { cancelTopup } from '../../src/domain/topups/end.ts';
import { topupView } from '../../src/domain/topups/read.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { expireTopupsJob } from '../../src/workers/expire-topups.ts';
import type { Job } from '../../src/workers/job.ts';
import { TopupWorld } from '../support/topup-world.ts';

let world: TopupWorld;
let job: Job;
before(async () => {
  world = await TopupWorld.start();
  job = expireTopupsJob(world.service);
});
after(() => world.close());

test('an invoice expires exactly when its time is up', async () => {
  const topup = await world.createInvoice(100);
  assert.deepEqual(await job.nextDue(), topup.expires_at);
  world.clock.advanceMinutes(59.99);
  assert.equal(await job.run(), 0);
  world.clock.advanceMinutes(0.01);
  assert.equal(await job.run(), 1);
  assert.equal(await job.run(), 0);
  assert.equal(await job.nextDue(), null);
  assert.equal(topupView(await world.reloadTopup(topup)).status, 'expired');
  const events = await world.topupEvents(topup);
  assert.deepEqual(
    events.map(({ type, topup: at }) => [type, at.status]),
    [['topup.expired', 'expired']],
  );
  assert.deepEqual(await world.auditActions(topup), ['topup.create', 'topup.expire']);
});

test('canceled, paid, and confirming invoices do not expire', async () => {
  const cancelled = await world.createInvoice(100);
  const actor = { ...(await world.createCustomer()), customerId: cancelled.customer_id };
  await cancelTopup(world.service, actor, cancelled.order_ref);
  const paid = await world.createInvoice(100);
  world.btc.pay(paid.deposit_address, 200_000n);
  world.btc.mine();
  const confirming = await world.createInvoice(100);
  await world.runUntilIdle();
  world.btc.pay(confirming.deposit_address, 200_000n);
  await world.runUntilIdle();
  world.clock.advanceMinutes(120);
  assert.equal(await job.run(), 0);
  assert.equal((await world.reloadTopup(paid)).status, 'credited');
  assert.equal((await world.reloadTopup(confirming)).status, 'confirming');
  assert.deepEqual(await world.topupEvents(cancelled), []);
});

test('many invoices expire in batches, each once, with any number of processes', async () => {
  const actors = await Promise.all(Array.from({ length: 12 }, () => world.createCustomer()));
  const order = { coin: 'BTC', amountCents: 3_000n } as const;
  for (const actor of actors) {
    await Promise.all(Array.from({ length: 10 }, () => createTopup(world.service, actor, order)));
  }
  world.clock.advanceMinutes(61);
  const runs = await Promise.all([job.run(), expireTopupsJob(world.service).run()]);
  assert.ok(Math.max(...runs) <= 100);
  assert.equal(runs.reduce((sum, count) => sum + count, 0) + (await job.run()), 120);
  const events = await world.db.row<{ n: bigint }>(
    `select count(*) as n from events where type = 'topup.expired' and customer_id = any($1)`,
    [actors.map((actor) => actor.customerId)],
  );
  assert.equal(events?.n, 120n);
});

test('an invoice that cannot be expired is logged and skipped, and blocks nothing else', async () => {
  const broken = await world.createInvoice(100);
  const sound = await world.createInvoice(100);
  // Make every event of this customer fail, so that nothing about this invoice can be recorded.
  const guard = `create function refuse_event() returns trigger language plpgsql as $$
    begin raise exception 'no event for this one' using errcode = 'XX000'; end $$`;
  await world.db.run(guard);
  await world.db.run(
    `create trigger refuse_event before insert on events for each row
       when (new.customer_id = '${broken.customer_id}') execute function refuse_event()`,
  );
  const logged: { err?: Error; topup?: string }[] = [];
  const log = { error: (line: object) => logged.push(line) } as unknown as Logger;
  const careful = expireTopupsJob({ ...world.service, log });
  world.clock.advanceMinutes(61);
  while ((await careful.run()) > 0);
  assert.equal((await world.reloadTopup(sound)).status, 'expired');
  assert.equal((await world.reloadTopup(broken)).status, 'pending');
  assert.deepEqual(await world.auditActions(broken), ['topup.create']);
  assert.equal(logged.length, 1);
  assert.equal(logged[0]?.topup, broken.id);
  assert.match(String(logged[0]?.err?.message), /no event for this one/);
  assert.equal(await careful.nextDue(), null);
  await world.db.run('drop trigger refuse_event on events');
  assert.equal(await expireTopupsJob(world.service).run(), 1);
  assert.equal((await world.reloadTopup(broken)).status, 'expired');
});

test('a run that loses the database fails as a whole and skips no invoice', async () => {
  const topup = await world.createInvoice(100);
  world.clock.advanceMinutes(61);
  const away = Object.assign(new Error('away'), { code: '57P01' });
  const db = { ...world.db, transaction: () => Promise.reject(away) };
  const cut = expireTopupsJob({ ...world.service, db });
  await assert.rejects(cut.run(), away);
  assert.deepEqual(await cut.nextDue(), topup.expires_at);
  assert.equal(await job.run(), 1);
});
