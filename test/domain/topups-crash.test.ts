/** Kills a process at each crash point. Another one must finish the work exactly once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { CustomerActor, Service } from '../../src/domain/context.ts';
import { createTopup } from '../../src/domain/topups/create.ts';
import type { SimnetControl } from '../../src/drivers/chain/simnet/control.ts';
import type { TopupRow } from '../../src/store/topups/topups.ts';
import { watchJob } from '../../src/workers/watch.ts';
import { createSimnetService } from '../support/simnet-service.ts';
import { TopupWorld } from '../support/topup-world.ts';

const CHILD = fileURLToPath(new URL('../support/topup-crash-child.ts', import.meta.url));

let world: TopupWorld;
let service: Service;
let control: SimnetControl;
before(async () => {
  world = await TopupWorld.start();
  ({ service, control } = createSimnetService(world));
});
after(() => world.close());

/** Runs a process that must die at the crash point. */
async function killedAt(crashAt: string, customer: CustomerActor | null): Promise<void> {
  const task = JSON.stringify({ connection: world.connection, crashAt, customer });
  const child = spawn(process.execPath, [CHILD, task], { stdio: 'ignore' });
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGKILL');
}

async function settle(): Promise<void> {
  const watch = watchJob(service);
  while ((await watch.run()) > 0 || (await watch.busy()));
}

async function paidInvoice(): Promise<TopupRow> {
  const order = { coin: 'BTC', amountCents: 10_000n } as const;
  const topup = await createTopup(service, await world.createCustomer(), order);
  await control.pay({ coin: 'BTC', address: topup.deposit_address, amount: '0.00166667' });
  await control.mine({ coin: 'BTC', count: 1 });
  return topup;
}

for (const [point, invoices] of [
  ['topup.numbered', 0],
  ['topup.allocated', 0],
  ['topup.written', 0],
  ['topup.committed', 1],
] as const) {
  test(`a crash at ${point} leaves ${invoices} complete invoices and a unique next address`, async () => {
    const actor = await world.createCustomer();
    await killedAt(point, actor);
    const left = await world.db.rows<{ audits: number }>(
      `select (select count(*)::int from audit_events where customer_id = $1) as audits
         from topups where customer_id = $1`,
      [actor.customerId],
    );
    assert.deepEqual(left, Array(invoices).fill({ audits: 1 }));
    await createTopup(service, actor, { coin: 'BTC', amountCents: 10_000n });
  });
}

for (const point of [
  'credit.polled',
  'credit.observation_written',
  'credit.written',
  'credit.committed',
  'credit.cursor_saved',
]) {
  test(`a payment is credited once after a crash at ${point}`, async () => {
    const topup = await paidInvoice();
    await killedAt(point, null);
    await settle();
    assert.deepEqual(await world.ledgerEntries(topup), [
      { type: 'topup', cents: 10_000n },
      { type: 'bonus', cents: 3_000n },
    ]);
    assert.equal(await world.balance(topup), 13_000n);
    assert.deepEqual(
      (await world.topupEvents(topup)).map((event) => event.type),
      ['topup.pending', 'topup.confirmed'],
    );
  });
}

test('a payment that left the chain is reversed once after a crash at credit.reversed', async () => {
  const topup = await paidInvoice();
  await settle();
  await control.reorg({ coin: 'BTC', depth: 1, drop: true });
  await killedAt('credit.reversed', null);
  assert.equal(await world.balance(topup), 13_000n);
  await settle();
  assert.equal(await world.balance(topup), 0n);
  assert.equal((await world.ledgerEntries(topup)).length, 4);
  assert.equal((await world.reloadTopup(topup)).status, 'confirming');
});
