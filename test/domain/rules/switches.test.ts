import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { setSwitch } from '../../../src/domain/rules/switches.ts';
import {
  freezeServer,
  placeLegalHold,
  releaseServer,
} from '../../../src/domain/servers/operator/controls.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { renewJob } from '../../../src/workers/jobs.ts';
import { CalendarWorld } from '../billing/calendar-world.ts';

let world: CalendarWorld;
let actor: CustomerActor;
let id: string;

before(async () => {
  world = await CalendarWorld.open();
});
after(() => world.close());
afterEach(() => world.world.assertInvariants());

/** Creates a running server at 5.00 per month whose customer has this balance left. */
async function serverWith(cents: bigint): Promise<void> {
  actor = await world.customer(500n + cents);
  id = await world.running(actor);
}

const renewals = (on: boolean) => setSwitch(world.service, 'renewals', on);
const release = () => releaseServer(world.service, formatId('server', id), { freeze: false, hold: false });

test('while renewals are off, the calendar pauses and nothing is scheduled', async () => {
  await serverWith(500n);
  await renewals(false);
  await world.advanceDays(75);
  assert.equal(await world.status(id), 'running');
  assert.deepEqual(await world.charges(id), [500]);
  assert.deepEqual(await world.mails(actor), []);
  const job = renewJob(world.service);
  assert.deepEqual([await job.run(), await job.nextDue(), await job.busy()], [0, null, false]);
  await renewals(true);
  await world.runDueWork();
  // Missed cycles are charged one by one. Unpaid servers are suspended, not destroyed.
  assert.deepEqual(await world.charges(id), [500, 500]);
  assert.equal(await world.status(id), 'suspended balance');
  await world.advanceDays(13);
  assert.equal(await world.status(id), 'suspended balance');
  await world.advanceDays(2);
  assert.equal(await world.status(id), 'gone');
});

test('a grace period that passed while renewals were off ends after a warning and its notice', async () => {
  await serverWith(0n);
  await world.advanceDays(32);
  assert.equal(await world.status(id), 'suspended balance');
  await renewals(false);
  await world.advanceDays(60);
  await world.pay(actor, 100n);
  await renewals(true);
  await world.runDueWork();
  assert.equal(await world.status(id), 'suspended balance');
  assert.equal((await world.mails(actor)).at(-1), 'destruction_warning 1');
  await world.pay(actor, 400n);
  await world.advance(10_000);
  assert.equal(await world.status(id), 'running');
});

test('a legal hold outlasts the grace period, and a full one follows when it is lifted', async () => {
  await serverWith(0n);
  await world.advanceDays(32);
  await placeLegalHold(world.service, formatId('server', id), 'Order 17');
  await world.advanceDays(60);
  assert.equal(await world.status(id), 'suspended balance');
  assert.ok(!(await world.mails(actor)).some((mail) => mail.startsWith('destruction')));
  await release();
  await world.advanceDays(13.9);
  assert.equal(await world.status(id), 'suspended balance');
  const warnings = ['destruction_warning 7', 'destruction_warning 3', 'destruction_warning 1'];
  assert.deepEqual((await world.mails(actor)).slice(-3), warnings);
  await world.advanceDays(1);
  assert.equal(await world.status(id), 'gone');
});

test('a frozen server is not charged, and pays from its release or waits for a balance', async () => {
  await serverWith(500n);
  const freeze = () => freezeServer(world.service, formatId('server', id), 'Report 7');
  await freeze();
  await world.advanceDays(40);
  assert.deepEqual(await world.charges(id), [500]);
  assert.equal(await world.status(id), 'suspended operator');
  await release();
  await world.advance(60_000);
  assert.equal(await world.status(id), 'running');
  assert.deepEqual(await world.charges(id), [500, 500]);
  assert.deepEqual((await world.mails(actor)).filter((mail) => mail === 'server_suspended').length, 1);
  await freeze();
  await world.advanceDays(40);
  await release();
  await world.advance(60_000);
  assert.equal(await world.status(id), 'suspended balance');
  assert.equal((await world.mails(actor)).at(-1), 'server_suspended');
  await world.pay(actor, 500n);
  await world.advance(60_000);
  assert.equal(await world.status(id), 'running');
});

test('a freeze blocks the resumption of a suspended server until it is lifted', async () => {
  await serverWith(0n);
  await world.advanceDays(32);
  await freezeServer(world.service, formatId('server', id), 'Report 7');
  assert.equal(await world.status(id), 'suspended operator');
  await world.pay(actor, 500n);
  await world.advanceDays(1);
  assert.equal(await world.status(id), 'suspended operator');
  await release();
  await world.advance(60_000);
  assert.equal(await world.status(id), 'running');
});
