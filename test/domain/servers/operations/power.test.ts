import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import {
  rebootServer,
  rescueServer,
  startServer,
  stopServer,
} from '../../../../src/domain/servers/operations/power.ts';
import { sha256 } from '../../../../src/drivers/compute/simulator/machine.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { addMonths } from '../../../../src/kernel/time.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import { S1 } from '../../../support/fixtures.ts';
import type { TestService } from '../../../support/test-service.ts';
import { BALANCE, RegionWorld } from '../region-world.ts';

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
  ({ id, shown } = await region.running());
});
afterEach(async () => {
  mock.restoreAll();
  await world.assertInvariants();
});

const stop = () => stopServer(world.service, region.actor, shown);
const start = () => startServer(world.service, region.actor, shown);
const reboot = (hard = false) => rebootServer(world.service, region.actor, shown, { hard });
const rescue = () => rescueServer(world.service, region.actor, shown);
const status = async () => (await region.server(id)).status;
/** Returns the events since the server first ran. */
const newEvents = async () => (await region.events()).slice(3);

async function refusal(work: Promise<unknown>): Promise<Failure> {
  return await work.then(
    () => assert.fail('the request succeeded'),
    (error: unknown) => {
      assert.ok(error instanceof Failure, String(error));
      return error;
    },
  );
}

async function stopFully(): Promise<void> {
  await stop();
  await world.runUntilIdle();
}

async function suspend(reason: string): Promise<void> {
  await world.db.run(
    `update servers set status = 'suspended', suspended_reason = $2, suspended_at = $3, resume_to = 'running',
            destroy_at = $3::timestamptz + interval '14 days' where id = $1`,
    [id, reason, world.clock.now()],
  );
  await world.service.compute.power(id, 'off');
}

describe('stop', () => {
  it('a stopping server stays running until its guest is off', async () => {
    assert.equal((await stop()).status, 'running');
    await region.runDueWork();
    assert.equal(await status(), 'running');
    assert.deepEqual(await newEvents(), []);
    await world.runUntilIdle();
    assert.deepEqual([await status(), (await region.machine(id))?.state], ['stopped', 'stopped']);
    assert.deepEqual(await newEvents(), ['server.stopped']);
    assert.deepEqual((await region.auditedActions()).slice(-1), ['server.stop ok']);
  });

  it('a stop powers off a guest that ignores it exactly at the deadline', async () => {
    await world.simulator.setIgnoresShutdown(id, true);
    await stop();
    await region.runDueWork();
    world.clock.advanceS(59);
    await region.runDueWork();
    assert.equal((await region.machine(id))?.state, 'running');
    world.clock.advanceS(1);
    await region.runDueWork();
    assert.equal((await region.machine(id))?.state, 'stopped');
    await world.runUntilIdle();
    assert.equal(await status(), 'stopped');
  });

  it('a stop repeats its request every five seconds, for guests that were still booting', async () => {
    const power = mock.method(world.service.compute, 'power');
    const after = async (seconds: number) => {
      world.clock.advanceS(seconds);
      await region.runDueWork();
      return power.mock.calls.map(({ arguments: [, action] }) => action);
    };
    await world.simulator.setIgnoresShutdown(id, true);
    await stop();
    assert.deepEqual(await after(0), ['acpi']);
    for (const seconds of [0.5, 4]) assert.deepEqual(await after(seconds), ['acpi']);
    assert.deepEqual(await after(0.5), ['acpi', 'acpi']);
    await world.simulator.setIgnoresShutdown(id, false);
    assert.deepEqual(await after(4.5), ['acpi', 'acpi']);
    assert.deepEqual(await after(0.5), ['acpi', 'acpi', 'acpi']);
    await after(2);
    assert.deepEqual([await status(), (await region.machine(id))?.state], ['stopped', 'stopped']);
  });

  it('a stop counts as work in progress until the guest is off', async () => {
    await stop();
    await region.runDueWork();
    assert.equal(await world.runner.runUntilIdle(100), false);
    await world.runUntilIdle();
    assert.equal(await world.runner.runUntilIdle(1_000), true);
  });

  it('a stop waits for a silent host', async () => {
    const host = (await region.machine(id))?.host ?? '';
    await world.simulator.setHostDown(host, true);
    await stop();
    for (let n = 0; n < 5; n++) {
      world.clock.advanceS(30);
      await region.runDueWork();
    }
    assert.equal(await status(), 'running');
    await world.simulator.setHostDown(host, false);
    await world.runUntilIdle();
    assert.equal(await status(), 'stopped');
  });

  it('a stop that the driver refuses ends with an error in the audit log', async () => {
    mock.method(world.service.compute, 'power', async () => {
      throw new ComputeError('refused', 'no such machine');
    });
    await stop();
    await world.runUntilIdle();
    assert.equal(await status(), 'running');
    assert.deepEqual((await region.auditedActions()).slice(-2), ['server.stop error', 'server.stop ok']);
  });
});

describe('concurrent operations', () => {
  it('a server refuses a second operation while one is under way', async () => {
    await stop();
    for (const other of [stop, start, reboot, rescue]) {
      assert.equal((await refusal(other())).code, 'conflict_state');
    }
    await world.runUntilIdle();
    assert.equal((await refusal(stop())).code, 'conflict_state');
    assert.equal((await refusal(reboot())).code, 'conflict_state');
    assert.deepEqual(await newEvents(), ['server.stopped']);
  });

  it('a server accepts one of ten simultaneous requests', async () => {
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => reboot()));
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
    await world.runUntilIdle();
    assert.deepEqual(await newEvents(), ['server.rebooted']);
  });
});

describe('start', () => {
  it('a start powers on a stopped server without an event', async () => {
    await stopFully();
    assert.equal((await start()).status, 'stopped');
    await world.runUntilIdle();
    assert.deepEqual([await status(), (await region.machine(id))?.state], ['running', 'running']);
    assert.deepEqual(await newEvents(), ['server.stopped']);
  });

  it('a start charges an unrenewed server a cycle from now and resumes it', async () => {
    world.clock.advanceS(40 * 86_400);
    await suspend('not_renewed');
    const now = world.clock.now();
    const shownServer = await start();
    assert.equal(shownServer.status, 'suspended');
    assert.equal(await region.balance(), BALANCE - 2n * S1.price_cents_month);
    await world.runUntilIdle();
    const server = await region.server(id);
    assert.deepEqual([server.status, server.suspended_reason], ['running', null]);
    assert.deepEqual(server.paid_until, addMonths(now, 1, now.getUTCDate()));
    assert.deepEqual(await newEvents(), ['billing.charged', 'server.running']);
  });

  it('a start that the balance cannot pay is refused and charges nothing', async () => {
    await suspend('not_renewed');
    await world.db.run('update servers set price_cents_cycle = 1000000 where id = $1', [id]);
    const refused = await refusal(start());
    assert.deepEqual(
      [refused.code, refused.extras],
      ['insufficient_balance', { have: 95, need: 10_000, deficit: 9_905 }],
    );
    assert.equal(await status(), 'suspended');
  });

  it('a start is refused for a server that waits for balance or is frozen by the operator', async () => {
    for (const reason of ['balance', 'operator']) {
      await suspend(reason);
      assert.equal((await refusal(start())).code, 'conflict_state');
    }
  });

  it('a paid start that fails leaves a stopped server, which is not charged again', async () => {
    await suspend('not_renewed');
    mock.method(world.service.compute, 'power', async () => {
      throw new ComputeError('refused', 'broken');
    });
    await start();
    await world.runUntilIdle();
    assert.equal(await status(), 'stopped');
    mock.restoreAll();
    await start();
    await world.runUntilIdle();
    assert.equal(await status(), 'running');
    assert.equal(await region.balance(), BALANCE - 2n * S1.price_cents_month);
  });
});

describe('reboot', () => {
  it('a reboot powers the machine off and on, and records its event when it is done', async () => {
    const before = (await region.machine(id))?.bootedAt;
    await reboot();
    await region.runDueWork();
    world.clock.advanceS(2);
    assert.equal((await region.machine(id))?.state, 'stopped');
    assert.equal(await status(), 'running');
    await world.runUntilIdle();
    assert.ok(((await region.machine(id))?.bootedAt ?? 0) > (before ?? 0));
    assert.equal((await region.machine(id))?.state, 'running');
    assert.deepEqual(await newEvents(), ['server.rebooted']);
  });

  it('a hard reboot resets the machine at once, even if its guest ignores ACPI', async () => {
    await world.simulator.setIgnoresShutdown(id, true);
    const now = world.clock.now();
    await reboot(true);
    await region.runDueWork();
    assert.deepEqual((await region.machine(id))?.bootedAt, now);
    assert.deepEqual(await newEvents(), ['server.rebooted']);
  });

  it('a reboot powers on a machine whose guest shut itself down', async () => {
    await world.service.compute.power(id, 'off');
    await reboot(true);
    await world.runUntilIdle();
    assert.equal((await region.machine(id))?.state, 'running');
    assert.deepEqual(await newEvents(), ['server.rebooted']);
  });
});

describe('rescue', () => {
  it('rescue boots with a password that is shown once, and the next reboot leaves it', async () => {
    const hashes: string[] = [];
    const { compute } = world.service;
    const call = compute.rescue.bind(compute);
    mock.method(compute, 'rescue', async (machine: string, access: { passwordHash: string }) => {
      hashes.push(access.passwordHash);
      await call(machine, access);
    });
    const rescued = await rescue();
    assert.equal(rescued.rescue.username, 'root');
    assert.match(rescued.rescue.password, /^[a-z2-7]{26}$/);
    const kept = JSON.stringify(await world.db.rows('select * from operations'));
    assert.ok(!kept.includes(rescued.rescue.password));
    await world.runUntilIdle();
    assert.match(hashes[0] ?? '', /^\$6\$/);
    assert.ok(!kept.includes(hashes[0] ?? 'none'));
    const machine = await region.machine(id);
    assert.deepEqual([machine?.rescue, machine?.rescuePasswordHashSha256], [true, sha256(hashes[0] ?? '')]);
    assert.deepEqual([await status(), await newEvents()], ['running', ['server.rebooted']]);
    const events = JSON.stringify(await world.db.rows('select data from events'));
    assert.ok(!events.includes(rescued.rescue.password));
    await reboot();
    await world.runUntilIdle();
    assert.equal((await region.machine(id))?.rescue, false);
    assert.deepEqual(await newEvents(), ['server.rebooted', 'server.rebooted']);
  });

  it('rescue is refused where no rescue system is available', async () => {
    const { compute } = world.service;
    const without = Object.create(compute, { images: { value: { rescue: async () => null } } });
    await assert.rejects(
      rescueServer({ ...world.service, compute: without }, region.actor, shown),
      (error) => error instanceof Failure && error.code === 'unavailable',
    );
    assert.deepEqual([await status(), await newEvents()], ['running', []]);
    assert.deepEqual(await world.db.rows('select from operations'), []);
  });
});
