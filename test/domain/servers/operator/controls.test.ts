import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { charge } from '../../../../src/domain/ledger/transfer.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { rebootServer, startServer, stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { rebuildServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import {
  freezeServer,
  placeLegalHold,
  releaseServer,
} from '../../../../src/domain/servers/operator/controls.ts';
import { patchServer } from '../../../../src/domain/servers/update.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../../src/kernel/time.ts';
import type { TestService } from '../../../support/test-service.ts';
import { refusalMessage } from '../../fixture.ts';
import { RegionWorld } from '../region-world.ts';

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
  // Advance the clock so that earlier events sort first.
  world.clock.advanceS(1);
  return await freezeServer(world.service, shown, reason);
}

const hold = (order = 'Order 17') => placeLegalHold(world.service, shown, order);
const release = ({ freeze = false, hold = false } = {}) =>
  releaseServer(world.service, shown, { freeze, hold });
const newEvents = async () => (await region.events()).slice(3);

/** Describes status and reason, the machine's power state, and whether an operation is under way. */
async function state(): Promise<string> {
  const server = await region.server(id);
  const busy = await world.db.row('select from operations where server_id = $1', [id]);
  const machine = (await region.machine(id))?.state ?? 'no machine';
  const status = server.suspended_reason ? `suspended (${server.suspended_reason})` : server.status;
  return `${status}, ${machine}${busy ? ', busy' : ''}`;
}

function refused(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => assert.fail('the request succeeded'),
    (error: unknown) => (error instanceof Failure ? error.code : String(error)),
  );
}

async function sentMails(): Promise<{ kind: string; n: number }[]> {
  return await world.db.rows(
    'select kind, count(*)::int as n from mails where customer_id = $1 group by kind order by kind',
    [region.customerId],
  );
}

describe('freezeServer', () => {
  it('a frozen server is suspended at once, powered off, and its customer is notified', async () => {
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

  it('a released server returns to its previous state at no charge', async () => {
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
    const events = ['server.suspended', 'server.running', 'server.stopped', 'server.suspended'];
    assert.deepEqual(await newEvents(), events);
    assert.deepEqual((await region.auditedActions()).filter((line) => line.startsWith('server.')).slice(-2), [
      'server.freeze ok',
      'server.release ok',
    ]);
  });

  it('a server can be frozen and released repeatedly, and its reason can change', async () => {
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

  it('a server can be released during power-off and frozen during power-on', async () => {
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

describe('a freeze during an operation', () => {
  it('a freeze during a rebuild applies when the rebuild completes, without a gap', async () => {
    await rebuildServer(world.service, region.actor, shown, {});
    await freeze();
    assert.match(await state(), /^installing, .*busy$/);
    await world.runUntilIdle();
    assert.equal(await state(), 'suspended (operator), stopped');
    // Both in one commit.
    assert.deepEqual((await newEvents()).sort(), ['server.rebuilt', 'server.suspended']);
    assert.equal((await region.server(id)).suspended_reason, 'operator');
  });

  it('a freeze during a first install, a reboot, or a stop applies when that completes', async () => {
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

  it('a freeze that is released before the operation completes has no effect', async () => {
    await rebootServer(world.service, region.actor, shown, { hard: true });
    await freeze();
    await release();
    await world.runUntilIdle();
    assert.equal(await state(), 'running, running');
    assert.deepEqual(await newEvents(), ['server.rebooted']);
  });

  it('a freeze wins over requests and work at the same moment', async () => {
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

  it('a server that is being destroyed can no longer be frozen or held', async () => {
    await destroyServer(world.service, region.actor, shown);
    assert.match(await refusalMessage(freeze()), /being destroyed/);
    assert.match(await refusalMessage(hold()), /being destroyed/);
  });
});

describe('a server whose cycle ended while it was frozen', () => {
  async function freezeUntilUnpaid(): Promise<void> {
    await freeze();
    await world.runUntilIdle();
    const { paid_until: paidUntil } = await region.server(id);
    world.clock.advanceS((paidUntil.getTime() - world.clock.now().getTime()) / 1000 + 60);
  }

  it('an unpaid released server waits for the balance with a new grace period and a mail', async () => {
    await freezeUntilUnpaid();
    await withdrawBalance();
    await release();
    assert.equal(await state(), 'suspended (balance), stopped');
    assert.deepEqual(await newEvents(), ['server.suspended', 'server.suspended']);
    assert.deepEqual(await sentMails(), [{ kind: 'server_suspended', n: 2 }]);
    const sql = 'select destroy_at from servers where id = $1';
    const row = await world.db.row<{ destroy_at: Date }>(sql, [id]);
    assert.equal(row?.destroy_at.getTime(), world.clock.now().getTime() + 14 * DAY_MS);
  });

  it('a released server that was not to be renewed waits for its customer', async () => {
    await patchServer(world.service, region.actor, shown, { auto_renew: false });
    await freezeUntilUnpaid();
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

describe('placeLegalHold', () => {
  it('a legal hold preserves the server and its disk and changes nothing else', async () => {
    assert.equal(await hold(), true);
    assert.equal(await hold(), false);
    const { service } = world;
    const { actor } = region;
    await assert.rejects(destroyServer(service, actor, shown), (error: unknown) => {
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

  it('a legal hold and a freeze are lifted separately, and release refuses to guess', async () => {
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
