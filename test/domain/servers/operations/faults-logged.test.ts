/** The log shows why a driver call failed or timed out, and neither blocks other work. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor } from '../../../../src/domain/context.ts';
import { deploy } from '../../../../src/domain/servers/deploy/deploy.ts';
import { withDriverTimeout } from '../../../../src/domain/servers/operations/driver-call.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import type { ComputeFault } from '../../../../src/ports/compute-fault.ts';
import { readBalance } from '../../../../src/store/ledger/ledger.ts';
import { findServer } from '../../../../src/store/servers/servers.ts';
import { S1 } from '../../../support/fixtures.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

type Verb = 'ensure' | 'remove' | 'observe' | 'power';
interface Line {
  readonly level: 'warn' | 'error';
  readonly fields: Readonly<Record<string, unknown>>;
}

let world: TestService;
let actor: CustomerActor;
let regionId: string;
let hosts: string[];
let lines: Line[];
let regions = 0;

before(async () => {
  world = await startTestService();
});
after(() => world.close());
beforeEach(async () => {
  regionId = `x${regions++}`;
  await world.fixtures.addPlans([regionId], [S1]);
  hosts = await world.fixtures.addHosts([1], regionId);
  await world.fixtures.addAddresses(1, 1, regionId);
  actor = await world.fixtures.addCustomer(10_000n);
  lines = [];
  for (const level of ['warn', 'error'] as const) {
    mock.method(world.service.log, level, (fields: Line['fields']) => {
      lines.push({ level, fields });
    });
  }
});
/** Finishes leftover work, whose faults would otherwise appear in the next test. */
afterEach(async () => {
  mock.restoreAll();
  await world.runUntilIdle();
});

async function order(): Promise<string> {
  return (await deploy(world.service, actor, world.fixtures.buildOrder({ regionId }))).server.id;
}
const runDueWork = () => world.runner.runDue(performance.now() + 10_000);
const status = async (id: string) => (await findServer(world.db, id))?.status;

function failing(verb: Verb, fault: ComputeFault, message: string): void {
  mock.method(world.service.compute, verb, async () => {
    throw new ComputeError(fault, message);
  });
}
const warningsWith = (message: string) =>
  lines.filter(
    ({ level, fields }) => level === 'warn' && fields.err instanceof Error && fields.err.message === message,
  );

describe('a failed driver call', () => {
  async function assertLogged(id: string, message: string, step: string): Promise<void> {
    const [line] = warningsWith(message);
    assert.ok(line, 'nothing was logged');
    const { err, ...fields } = line.fields;
    assert.ok(err instanceof ComputeError);
    assert.deepEqual(fields, { server: formatId('server', id), host: hosts[0], step });
    assert.doesNotMatch(JSON.stringify(lines), new RegExp(id));
  }

  it('a failed ensure call is logged with its reason, server, host, and step', async () => {
    const id = await order();
    failing('ensure', 'transient', 'the disk is slow');
    await runDueWork();
    await assertLogged(id, 'the disk is slow', 'ensure');
  });

  it('a failed observe call is logged with its reason, server, host, and step', async () => {
    const id = await order();
    await runDueWork();
    failing('observe', 'transient', 'no route');
    world.clock.advanceS(1);
    await runDueWork();
    await assertLogged(id, 'no route', 'observe');
  });

  it('a failed power call is logged with its reason, server, host, and step', async () => {
    const id = await order();
    await runDueWork();
    await world.service.compute.power(id, 'off');
    failing('power', 'refused', 'no such machine');
    world.clock.advanceS(1);
    await runDueWork();
    await assertLogged(id, 'no such machine', 'observe');
  });

  it('a failed remove call is logged while a server leaves its host', async () => {
    const id = await order();
    failing('ensure', 'host', 'the pool is full');
    failing('remove', 'transient', 'no answer');
    await runDueWork();
    await assertLogged(id, 'no answer', 'leave_host');
  });

  it('a failed remove call is logged while a server is given up', async () => {
    const id = await order();
    failing('ensure', 'refused', 'no such image');
    failing('remove', 'transient', 'no answer');
    await runDueWork();
    await assertLogged(id, 'no answer', 'give_up');
  });
});

describe('a server that could not be provisioned', () => {
  const errors = () => lines.filter(({ level }) => level === 'error').map(({ fields }) => fields);

  it('a server that no host could create is logged once, with the last fault', async () => {
    const id = await order();
    failing('ensure', 'host', 'the pool is full');
    await world.runUntilIdle();
    assert.deepEqual(errors(), [
      {
        server: formatId('server', id),
        host: hosts[0],
        step: 'leave_host',
        reason: 'the pool is full',
        hostsBefore: 0,
      },
    ]);
  });

  it('a server that the driver refused is logged once, with the reason', async () => {
    const id = await order();
    failing('ensure', 'refused', 'no such image');
    await world.runUntilIdle();
    assert.deepEqual(errors(), [
      {
        server: formatId('server', id),
        host: hosts[0],
        step: 'give_up',
        reason: 'no such image',
        hostsBefore: 0,
      },
    ]);
  });

  it('a server whose install took too long is logged with that reason', async () => {
    await order();
    mock.method(world.service.compute, 'observe', async (ids: readonly string[]) =>
      ids.map((id) => ({ id, host: hosts[0], state: 'installing' })),
    );
    await runDueWork();
    world.clock.advanceS(21 * 60);
    await runDueWork();
    assert.deepEqual(
      errors().map(({ reason }) => reason),
      ['the install took too long'],
    );
  });

  it('a server that cannot be removed is logged repeatedly, by its public id', async () => {
    const id = await order();
    failing('ensure', 'refused', 'no such image');
    failing('remove', 'transient', 'no answer');
    for (let n = 0; n < 11; n++) {
      await runDueWork();
      world.clock.advanceS(30);
    }
    assert.deepEqual(
      errors().map(({ server, attempts }) => [server, attempts]),
      [[formatId('server', id), 10]],
    );
  });
});

describe('a driver call without an answer', () => {
  const never = () => new Promise<never>(() => undefined);
  /** Makes driver timeouts pass at once and leaves other timers alone; records the driver timeouts. */
  function skipDriverTimeouts(): number[] {
    const limits: number[] = [];
    const { setTimeout } = globalThis;
    mock.method(globalThis, 'setTimeout', (run: () => void, ms?: number) => {
      if (ms !== 30_000 && ms !== 60_000) return setTimeout(run, ms);
      limits.push(ms);
      return setTimeout(run, 1);
    });
    return limits;
  }

  it('a driver call that times out fails as transient', async () => {
    await assert.rejects(withDriverTimeout(never(), 1), (error) => {
      assert.ok(error instanceof ComputeError);
      return error.fault === 'transient';
    });
    assert.equal(await withDriverTimeout(Promise.resolve(7), 1_000), 7);
    const mine = new Error('mine');
    await assert.rejects(withDriverTimeout(Promise.reject(mine), 1_000), mine);
  });

  it('a driver call that is answered leaves no timer, and its timer keeps no process alive', async () => {
    const timers = mock.method(globalThis, 'setTimeout');
    const cleared = mock.method(globalThis, 'clearTimeout');
    await withDriverTimeout(Promise.resolve(), 60_000);
    const timer = timers.mock.calls.at(-1)?.result as NodeJS.Timeout;
    assert.equal(timer.hasRef(), false);
    assert.equal(cleared.mock.calls.at(-1)?.arguments[0], timer);
  });

  for (const [verb, ms] of [
    ['ensure', 60_000],
    ['observe', 30_000],
    ['remove', 30_000],
    ['power', 30_000],
  ] as const) {
    it(`a ${verb} call without an answer blocks nothing permanently`, { timeout: 20_000 }, async () => {
      const id = await order();
      if (verb === 'remove') failing('ensure', 'host', 'the pool is full');
      if (verb === 'observe' || verb === 'power') await runDueWork();
      if (verb === 'power') {
        // Answer before any timeout.
        mock.method(world.service.compute, 'observe', async (ids: readonly string[]) =>
          ids.map((each) => ({ id: each, host: hosts[0], state: 'stopped' })),
        );
      }
      world.clock.advanceS(1);
      const limits = skipDriverTimeouts();
      const hanging = mock.method(world.service.compute, verb, never);
      assert.ok(await runDueWork());
      assert.ok(hanging.mock.callCount() > 0);
      assert.ok(limits.includes(ms));
      assert.ok(warningsWith(`no answer within ${ms / 1_000} s`).length > 0);
      mock.restoreAll();
      await world.runUntilIdle();
      if (verb === 'remove') assert.equal(await readBalance(world.db, actor.customerId), 10_000n);
      else assert.equal(await status(id), 'running');
      await world.assertInvariants();
    });
  }
});
