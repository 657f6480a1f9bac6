/** Kills a process at each commit and each call of a node. Another one must finish the work exactly once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { CustomerActor, Service } from '../../../../src/domain/context.ts';
import { createTopup } from '../../../../src/domain/topups/create.ts';
import type { SimnetControl } from '../../../../src/drivers/chain/simnet/control.ts';
import { LIST_PLACES } from '../../../../src/kernel/faults/crash.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { watchJob } from '../../../../src/workers/watch.ts';
import { parsePlaces } from '../../../support/crash-places.ts';
import { ROTATION, rotate } from '../../../support/runs.ts';
import { createSimnetService } from '../../../support/simnet-service.ts';
import { TopupWorld } from '../../../support/topup-world.ts';

const CHILD = fileURLToPath(new URL('../../../support/topup-crash-child.ts', import.meta.url));

/** Every process reaches more places: a shorter list means that the listing failed. */
const PLACES_MIN = 6;

let world: TopupWorld;
let service: Service;
let control: SimnetControl;
before(async () => {
  world = await TopupWorld.start();
  ({ service, control } = createSimnetService(world));
});
after(() => world.close());

/** Runs a process that creates an invoice, or polls the chains. Returns the places that it printed. */
async function runChild(crashAt: string, customer: CustomerActor | null): Promise<ChildEnd> {
  const task = JSON.stringify({ connection: world.connection, crashAt, customer });
  const child = spawn(process.execPath, [CHILD, task], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [stdout, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { code, signal, places: parsePlaces(stdout) };
}

interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly places: readonly string[];
}

/** Kills one process at each place that an unharmed one reaches; fewer in `npm test`. */
async function killEverywhere(
  t: TestContext,
  act: {
    /** Returns the customer who creates an invoice, or null to poll the chains. */
    prepare(): Promise<CustomerActor | null>;
    check(place: string, places: readonly string[]): Promise<void>;
  },
): Promise<void> {
  const { code, signal, places } = await runChild(LIST_PLACES, await act.prepare());
  assert.deepEqual([code, signal], [0, null], 'the unharmed process ended well');
  const chosen = rotate(places, { sample: 6, full: 3, soak: 1 });
  t.diagnostic(`${chosen.length} of ${places.length} places, rotation ${ROTATION}`);
  assert.ok(places.length >= PLACES_MIN, `only ${places.length} places: ${places.join('; ')}`);
  for (const place of chosen) {
    await t.test(`killed ${place}`, async () => {
      const customer = await act.prepare();
      assert.equal((await runChild(place, customer)).signal, 'SIGKILL');
      await act.check(place, places);
    });
  }
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

test('a crash leaves a complete invoice or none, and a unique next address', async (t) => {
  let actor: CustomerActor;
  await killEverywhere(t, {
    prepare: async () => {
      // Like the first invoice of a coin, which also starts the cursor.
      await world.db.run(`update coins set cursor = null where code = 'BTC'`);
      actor = await world.createCustomer();
      return actor;
    },
    check: async (place, places) => {
      const left = await world.db.rows<{ audits: number }>(
        `select (select count(*)::int from audit_events where customer_id = $1) as audits
           from topups where customer_id = $1`,
        [actor.customerId],
      );
      const written = places.findIndex((each) => /^after commit\(.*\btopups\b/.test(each));
      assert.ok(written > 0, 'one commit writes the invoice');
      assert.deepEqual(left, places.indexOf(place) < written ? [] : [{ audits: 1 }]);
      await createTopup(service, actor, { coin: 'BTC', amountCents: 10_000n });
    },
  });
});

test('a payment is credited once after a crash', async (t) => {
  let topup: TopupRow;
  await killEverywhere(t, {
    prepare: async () => {
      topup = await paidInvoice();
      return null;
    },
    check: async () => {
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
    },
  });
});

test('a payment that left the chain is reversed once after a crash', async (t) => {
  let topup: TopupRow;
  await killEverywhere(t, {
    prepare: async () => {
      topup = await paidInvoice();
      await settle();
      await control.reorg({ coin: 'BTC', depth: 1, drop: true });
      assert.equal(await world.balance(topup), 13_000n);
      return null;
    },
    check: async (place, places) => {
      const reversed = places.findIndex((each) => /^after commit\(.*\btransfers\b/.test(each));
      assert.ok(reversed > 0, 'one commit writes the reversal');
      // A kill inside the transaction leaves nothing of it.
      if (/commit\(.*\b(?:deposits|topups|transfers)\b/.test(place)) {
        assert.equal(await world.balance(topup), places.indexOf(place) < reversed ? 13_000n : 0n);
      }
      await settle();
      assert.equal(await world.balance(topup), 0n);
      assert.equal((await world.ledgerEntries(topup)).length, 4);
      assert.equal((await world.reloadTopup(topup)).status, 'confirming');
    },
  });
});
