import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { charge } from '../../../src/domain/ledger/transfer.ts';
import { destroyServer } from '../../../src/domain/servers/destroy.ts';
import { freezeServer } from '../../../src/domain/servers/freeze.ts';
import { placeLegalHold } from '../../../src/domain/servers/place-legal-hold.ts';
import { rebootServer, startServer, stopServer } from '../../../src/domain/servers/power.ts';
import { rebuildServer } from '../../../src/domain/servers/rebuild.ts';
import { type ReleaseScope, releaseServer } from '../../../src/domain/servers/release-server.ts';
import { patchServer } from '../../../src/domain/servers/update.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import type { TestService } from '../../support/test-service.ts';
import { refusalMessage } from '../fixture.ts';
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
  await region.reset();
  const key = await region.sshKey(KEY);
  ({ id, shown } = await region.running({ sshKeys: [{ id: key.id, publicKey: KEY }] }));
});
afterEach(() => world.assertInvariants());

async function freeze(reason = 'abuse report 7'): Promise<boolean> {
  // What happened before is told before.
  world.clock.advanceS(1);
  return await freezeServer(world.service, shown, reason);
}

const hold = (order = 'Order 17') => placeLegalHold(world.service, shown, order);
const release = (scope: Partial<ReleaseScope> = {}) =>
  releaseServer(world.service, shown, { freeze: false, hold: false, ...scope });
const newEvents = async () => (await region.events()).slice(3);

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

async function sentMails(): Promise<{ kind: string; n: number }[]> {
  return await world.db.rows(
    'select kind, count(*)::int as n from mails where customer_id = $1 group by kind order by kind',
    [region.customerId],
  );
}

describe('a server that the operator freezes', () => {
  it('is suspended at once and switched off, and its customer is told', async () => {
    assert.equal(await freeze(), true);
    assert.match(await state(), /^suspended \(operator\), .*busy$/);
    assert.deepEqual(await newEvents(), ['server.suspended']);
    assert.deepEqual(await sentMails(), [{ kind: 'server_suspended', n: 1 }]);
    await world.runUntilIdle();
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
    assert.deepEqual((await region.auditedActions()).slice(-1), ['server.freeze ok']);
    assert.equal((await destroyServer(service, actor, shown)).status, 'destroying');
    await world.runUntilIdle();
    assert.equal(await region.isGone(id), true);
  });

  it('is what it was when it is released, and its customer pays nothing', async () => {
    for (const before of ['running', 'stopped']) {
      if (before === 'stopped') {
        await stopServer(world.service, region.actor, shown);
        await world.runUntilIdle();
      }
      const balance = await region.balance();
      await freeze();
      await world.runUntilIdle();
      assert.equal(await release(), true);
      await world.runUntilIdle();
      assert.equal(await state(), `${before}, ${before}`);
      assert.equal(await region.balance(), balance);
    }
    assert.deepEqual(await newEvents(), [
      ...['server.suspended', 'server.running'],
      ...['server.stopped', 'server.suspended'],
    ]);
    assert.deepEqual((await region.auditedActions()).filter((line) => line.startsWith('server.')).slice(-2), [
      'server.freeze ok',
      'server.release ok',
    ]);
  });

  it('may be frozen and released twice, and for another reason', async () => {
    assert.equal(await freeze('a'), true);
    assert.equal(await freeze('a'), false);
    assert.equal(await freeze('b'), true);
    await world.runUntilIdle();
    assert.equal(await release(), true);
    assert.equal(await release(), false);
    await world.runUntilIdle();
    assert.equal(await state(), 'running, running');
    assert.deepEqual(await newEvents(), ['server.suspended', 'server.running']);
  });

  it('is released while it is still being switched off, and frozen while it is switched on again', async () => {
    await freeze();
    await release();
    assert.match(await state(), /^suspended \(operator\), .*busy$/);
    await world.runUntilIdle();
    assert.equal(await state(), 'running, running');
    await freeze();
    await world.runUntilIdle();
    await release();
    await freeze();
    await world.runUntilIdle();
    assert.equal(await state(), 'suspended (operator), stopped');
  });
});

describe('a freeze that comes while something is done to the server', () => {
  it('waits for the end of a rebuild, which is told, and lets nobody in between', async () => {
    await rebuildServer(world.service, region.actor, shown, {});
    await freeze();
    assert.match(await state(), /^installing, .*busy$/);
    await world.runUntilIdle();
    assert.equal(await state(), 'suspended (operator), stopped');
    // In one commit.
    assert.deepEqual((await newEvents()).sort(), ['server.rebuilt', 'server.suspended']);
    assert.equal((await region.server(id)).suspended_reason, 'operator');
  });

  it('waits for a first install, a reboot and a stop', async () => {
    id = await region.order();
    shown = formatId('server', id);
    await freeze();
    assert.match(await state(), /^provisioning/);
    assert.match(await refusalMessage(hold()), /has not run yet/);
    await world.runUntilIdle();
    assert.equal(await state(), 'suspended (operator), stopped');
    await release();
    await world.runUntilIdle();
    await rebootServer(world.service, region.actor, shown, { hard: true });
    await freeze();
    await world.runUntilIdle();
    assert.equal(await state(), 'suspended (operator), stopped');
    await release();
    await world.runUntilIdle();
    await stopServer(world.service, region.actor, shown);
    await freeze();
    await world.runUntilIdle();
    await release();
    await world.runUntilIdle();
    assert.equal(await state(), 'stopped, stopped');
  });

  it('is forgotten when it is lifted before that', async () => {
    await rebootServer(world.service, region.actor, shown, { hard: true });
    await freeze();
    await release();
    await world.runUntilIdle();
    assert.equal(await state(), 'running, running');
    assert.deepEqual(await newEvents(), ['server.rebooted']);
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
      await Promise.allSettled([ask(), freeze(), region.runDueWork()]);
      await world.runUntilIdle();
      assert.equal(await state(), 'suspended (operator), stopped');
      await Promise.all([release(), region.runDueWork()]);
      await world.runUntilIdle();
      assert.match(await state(), /^(running, running|stopped, stopped)$/);
    }
  });

  it('comes too late for one that is being destroyed', async () => {
    await destroyServer(world.service, region.actor, shown);
    assert.match(await refusalMessage(freeze()), /being destroyed/);
    assert.match(await refusalMessage(hold()), /being destroyed/);
  });
});

describe('a server whose cycle has ended while it was frozen', () => {
  async function unpaid(): Promise<void> {
    await freeze();
    await world.runUntilIdle();
    const { paid_until: paidUntil } = await region.server(id);
    world.clock.advanceS((paidUntil.getTime() - world.clock.now().getTime()) / 1000 + 60);
  }

  it('waits for the balance with a grace period of its own when it is released, and is told', async () => {
    await unpaid();
    await withdrawBalance();
    await release();
    assert.equal(await state(), 'suspended (balance), stopped');
    assert.deepEqual(await newEvents(), ['server.suspended', 'server.suspended']);
    assert.deepEqual(await sentMails(), [{ kind: 'server_suspended', n: 2 }]);
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
    await world.runUntilIdle();
    assert.equal(await state(), 'suspended (operator), stopped');
    await release();
    await world.runUntilIdle();
    assert.equal(await state(), 'running, running');
  });
});

async function withdrawBalance(): Promise<void> {
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
    await world.runUntilIdle();
    assert.equal(await state(), 'running, running');
    assert.deepEqual(await newEvents(), ['server.rebooted']);
    assert.equal(await release(), true);
    assert.equal(await release({ hold: true }), false);
    assert.equal((await destroyServer(service, actor, shown)).status, 'destroying');
    await world.runUntilIdle();
    assert.deepEqual(
      (await region.auditedActions()).filter((line) => /hold|release/.test(line)),
      ['server.hold ok', 'server.release ok'],
    );
  });

  it('and a freeze are lifted one by one, never by a guess', async () => {
    await hold();
    await freeze();
    await world.runUntilIdle();
    assert.equal(await refused(destroyServer(world.service, region.actor, shown)), 'jurisdictional_block');
    assert.match(await refusalMessage(release()), /--freeze, --hold or both/);
    assert.equal(await release({ freeze: true }), true);
    await world.runUntilIdle();
    assert.equal(await state(), 'running, running');
    assert.notEqual((await region.server(id)).held_at, null);
    assert.equal(await release({ freeze: true, hold: true }), true);
    assert.equal((await region.server(id)).held_at, null);
  });
});
