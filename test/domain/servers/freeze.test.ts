import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { charge } from '../../../src/domain/ledger/transfer.ts';
import { destroyServer } from '../../../src/domain/servers/destroy.ts';
import { freezeServer } from '../../../src/domain/servers/freeze.ts';
import { holdServer } from '../../../src/domain/servers/hold.ts';
import { rebootServer, startServer, stopServer } from '../../../src/domain/servers/power.ts';
import { rebuildServer } from '../../../src/domain/servers/rebuild.ts';
import { type Release, releaseServer } from '../../../src/domain/servers/release.ts';
import { patchServer } from '../../../src/domain/servers/update.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { showId } from '../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import type { TestService } from '../../support/service.ts';
import { refusal } from '../ground.ts';
import { RegionWorld } from './region-world.ts';

const KEY = 'ssh-ed25519 AAAAalice';

let region: RegionWorld;
let world: TestService;
let id: string;
let shown: string;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(async () => {
  await region.renew();
  const key = await region.sshKey(KEY);
  ({ id, shown } = await region.running({ sshKeys: [{ id: key.id, publicKey: KEY }] }));
});
afterEach(() => world.sound());

async function freeze(reason = 'abuse report 7'): Promise<boolean> {
  // What happened before is told before.
  world.clock.advanceS(1);
  return await freezeServer(world.service, shown, reason);
}

const hold = (order = 'Order 17') => holdServer(world.service, shown, order);
const release = (what: Partial<Release> = {}) =>
  releaseServer(world.service, shown, { freeze: false, hold: false, ...what });
const told = async () => (await region.events()).slice(3);

/** Status and reason, whether the machine is on, and whether something is under way. */
async function state(): Promise<string> {
  const server = await region.server(id);
  const busy = await world.db.row('select from operations where server_id = $1', [id]);
  const machine = (await region.machine(id))?.state ?? 'no machine';
  const status = server.suspended_reason ? `suspended (${server.suspended_reason})` : server.status;
  return `${status}, ${machine}${busy ? ', busy' : ''}`;
}

async function refused(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => (error instanceof Failure ? error.code : String(error)),
  );
}

async function mailed(): Promise<{ kind: string; n: number }[]> {
  return await world.db.rows(
    'select kind, count(*)::int as n from mails where customer_id = $1 group by kind order by kind',
    [region.customerId],
  );
}

describe('a server that the operator freezes', () => {
  it('is suspended at once and switched off, and its customer is told', async () => {
    assert.equal(await freeze(), true);
    assert.match(await state(), /^suspended \(operator\), .*busy$/);
    assert.deepEqual(await told(), ['server.suspended']);
    assert.deepEqual(await mailed(), [{ kind: 'server_suspended', n: 1 }]);
    await world.rest();
    assert.equal(await state(), 'suspended (operator), stopped');
    const { service } = world;
    const { actor } = region;
    const asked = [
      () => startServer(service, actor, shown),
      () => stopServer(service, actor, shown),
      () => rebootServer(service, actor, shown, { hard: true }),
      () => rebuildServer(service, actor, shown, {}),
      () => patchServer(service, actor, shown, { name: 'other' }),
    ];
    for (const ask of asked) assert.equal(await refused(ask()), 'conflict_state');
    assert.deepEqual((await region.audited()).slice(-1), ['server.freeze ok']);
    assert.equal((await destroyServer(service, actor, shown)).status, 'destroying');
    await world.rest();
    assert.equal(await region.isGone(id), true);
  });

  it('is what it was when it is released, and its customer pays nothing', async () => {
    for (const before of ['running', 'stopped']) {
      if (before === 'stopped') {
        await stopServer(world.service, region.actor, shown);
        await world.rest();
      }
      const balance = await region.balance();
      await freeze();
      await world.rest();
      assert.equal(await release(), true);
      await world.rest();
      assert.equal(await state(), `${before}, ${before}`);
      assert.equal(await region.balance(), balance);
    }
    assert.deepEqual(await told(), [
      ...['server.suspended', 'server.running'],
      ...['server.stopped', 'server.suspended'],
    ]);
    assert.deepEqual((await region.audited()).filter((line) => line.startsWith('server.')).slice(-2), [
      'server.freeze ok',
      'server.release ok',
    ]);
  });

  it('may be frozen and released twice, and for another reason', async () => {
    assert.equal(await freeze('a'), true);
    assert.equal(await freeze('a'), false);
    assert.equal(await freeze('b'), true);
    await world.rest();
    assert.equal(await release(), true);
    assert.equal(await release(), false);
    await world.rest();
    assert.equal(await state(), 'running, running');
    assert.deepEqual(await told(), ['server.suspended', 'server.running']);
  });

  it('is released while it is still being switched off, and frozen while it is switched on again', async () => {
    await freeze();
    await release();
    assert.match(await state(), /^suspended \(operator\), .*busy$/);
    await world.rest();
    assert.equal(await state(), 'running, running');
    await freeze();
    await world.rest();
    await release();
    await freeze();
    await world.rest();
    assert.equal(await state(), 'suspended (operator), stopped');
  });
});

describe('a freeze that comes while something is done to the server', () => {
  it('waits for the end of a rebuild, which is told, and lets nobody in between', async () => {
    await rebuildServer(world.service, region.actor, shown, {});
    await freeze();
    assert.match(await state(), /^installing, .*busy$/);
    await world.rest();
    assert.equal(await state(), 'suspended (operator), stopped');
    // In one commit.
    assert.deepEqual((await told()).sort(), ['server.rebuilt', 'server.suspended']);
    assert.equal((await region.server(id)).suspended_reason, 'operator');
  });

  it('waits for a first install, a reboot and a stop', async () => {
    id = await region.order();
    shown = showId('server', id);
    await freeze();
    assert.match(await state(), /^provisioning/);
    assert.match(await refusal(hold()), /has not run yet/);
    await world.rest();
    assert.equal(await state(), 'suspended (operator), stopped');
    await release();
    await world.rest();
    await rebootServer(world.service, region.actor, shown, { hard: true });
    await freeze();
    await world.rest();
    assert.equal(await state(), 'suspended (operator), stopped');
    await release();
    await world.rest();
    await stopServer(world.service, region.actor, shown);
    await freeze();
    await world.rest();
    await release();
    await world.rest();
    assert.equal(await state(), 'stopped, stopped');
  });

  it('is forgotten when it is lifted before that', async () => {
    await rebootServer(world.service, region.actor, shown, { hard: true });
    await freeze();
    await release();
    await world.rest();
    assert.equal(await state(), 'running, running');
    assert.deepEqual(await told(), ['server.rebooted']);
  });

  it('wins against what is asked and done at the same moment', async () => {
    const { service } = world;
    const { actor } = region;
    const asked = [
      () => stopServer(service, actor, shown),
      () => startServer(service, actor, shown),
      () => rebuildServer(service, actor, shown, {}),
    ];
    for (const ask of asked) {
      await Promise.allSettled([ask(), freeze(), region.work()]);
      await world.rest();
      assert.equal(await state(), 'suspended (operator), stopped');
      await Promise.all([release(), region.work()]);
      await world.rest();
      assert.match(await state(), /^(running, running|stopped, stopped)$/);
    }
  });

  it('comes too late for one that is being destroyed', async () => {
    await destroyServer(world.service, region.actor, shown);
    assert.match(await refusal(freeze()), /being destroyed/);
    assert.match(await refusal(hold()), /being destroyed/);
  });
});

describe('a server whose cycle has ended while it was frozen', () => {
  async function unpaid(): Promise<void> {
    await freeze();
    await world.rest();
    const { paid_until: paidUntil } = await region.server(id);
    world.clock.advanceS((paidUntil.getTime() - world.clock.now().getTime()) / 1000 + 60);
  }

  it('waits for the balance with a grace period of its own when it is released, and is told', async () => {
    await unpaid();
    await takeAll();
    await release();
    assert.equal(await state(), 'suspended (balance), stopped');
    assert.deepEqual(await told(), ['server.suspended', 'server.suspended']);
    assert.deepEqual(await mailed(), [{ kind: 'server_suspended', n: 2 }]);
    const row = await world.db.row<{ destroy_at: Date }>('select destroy_at from servers where id = $1', [
      id,
    ]);
    assert.equal(row?.destroy_at.getTime(), world.clock.now().getTime() + 14 * DAY_MS);
  });

  it('waits for its customer where it was not to be renewed', async () => {
    await patchServer(world.service, region.actor, shown, { auto_renew: false });
    await unpaid();
    await release();
    assert.equal(await state(), 'suspended (not_renewed), stopped');
    await startServer(world.service, region.actor, shown);
    await freeze();
    await world.rest();
    assert.equal(await state(), 'suspended (operator), stopped');
    await release();
    await world.rest();
    assert.equal(await state(), 'running, running');
  });
});

async function takeAll(): Promise<void> {
  const { customerId } = region;
  const amountCents = await region.balance();
  const taken = { customerId, amountCents, description: 'all of it', fact: `all:${customerId}` };
  await charge(world.db, { ...taken, account: 'adjustments', type: 'adjustment' }, world.clock.now());
}

describe('a legal hold', () => {
  it('keeps the server and its disk, and nothing else changes', async () => {
    assert.equal(await hold(), true);
    assert.equal(await hold(), false);
    const { service } = world;
    const { actor } = region;
    const work = destroyServer(service, actor, shown);
    await assert.rejects(work, (error: unknown) => {
      assert.ok(error instanceof Failure);
      assert.equal(error.code, 'jurisdictional_block');
      assert.match(error.message, /Order 17$/);
      return true;
    });
    assert.equal(await refused(rebuildServer(service, actor, shown, {})), 'jurisdictional_block');
    await rebootServer(service, actor, shown, { hard: true });
    await world.rest();
    assert.equal(await state(), 'running, running');
    assert.deepEqual(await told(), ['server.rebooted']);
    assert.equal(await release(), true);
    assert.equal(await release({ hold: true }), false);
    assert.equal((await destroyServer(service, actor, shown)).status, 'destroying');
    await world.rest();
    assert.deepEqual(
      (await region.audited()).filter((line) => /hold|release/.test(line)),
      ['server.hold ok', 'server.release ok'],
    );
  });

  it('and a freeze are lifted one by one, never by a guess', async () => {
    await hold();
    await freeze();
    await world.rest();
    assert.equal(await refused(destroyServer(world.service, region.actor, shown)), 'jurisdictional_block');
    assert.match(await refusal(release()), /--freeze, --hold or both/);
    assert.equal(await release({ freeze: true }), true);
    await world.rest();
    assert.equal(await state(), 'running, running');
    assert.notEqual((await region.server(id)).held_at, null);
    assert.equal(await release({ freeze: true, hold: true }), true);
    assert.equal((await region.server(id)).held_at, null);
  });
});
