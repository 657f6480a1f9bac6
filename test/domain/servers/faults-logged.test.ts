/** What the operator is told when the driver fails or does not answer, and that neither holds anything up for ever. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { deploy } from '../../../src/domain/servers/deploy.ts';
import { withDriverTimeout } from '../../../src/domain/servers/driver-timeout.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { ComputeError, type ComputeFault } from '../../../src/ports/compute.ts';
import { readBalance } from '../../../src/store/ledger.ts';
import { findServer } from '../../../src/store/servers.ts';
import { S1 } from '../../support/fixtures.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

type Verb = 'ensure' | 'remove' | 'observe' | 'power';
interface Line {
  readonly level: 'warn' | 'error';
  readonly what: Readonly<Record<string, unknown>>;
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
    mock.method(world.service.log, level, (what: Line['what']) => {
      lines.push({ level, what });
    });
  }
});
/** What a test leaves behind would tell its own faults in the next one. */
afterEach(async () => {
  mock.restoreAll();
  await world.runUntilIdle();
});

async function order(): Promise<string> {
  return (await deploy(world.service, actor, world.fixtures.buildOrder({ regionId }))).server.id;
}
const runDueWork = () => world.runner.runDue(Date.now() + 10_000);
const status = async (id: string) => (await findServer(world.db, id))?.status;

function failing(verb: Verb, fault: ComputeFault, message: string): void {
  mock.method(world.service.compute, verb, async () => {
    throw new ComputeError(fault, message);
  });
}
const warned = (message: string) =>
  lines.filter(
    ({ level, what }) => level === 'warn' && what.err instanceof Error && what.err.message === message,
  );

describe('a call to the driver that failed is told with its reason, server, host and step:', () => {
  async function told(id: string, message: string, step: string): Promise<void> {
    const [line] = warned(message);
    assert.ok(line, 'nothing in the log');
    const { err, ...what } = line.what;
    assert.ok(err instanceof ComputeError);
    assert.deepEqual(what, { server: formatId('server', id), host: hosts[0], step });
    assert.doesNotMatch(JSON.stringify(lines), new RegExp(id));
  }

  it('ensure', async () => {
    const id = await order();
    failing('ensure', 'transient', 'the disk is slow');
    await runDueWork();
    await told(id, 'the disk is slow', 'ensure');
  });

  it('observe', async () => {
    const id = await order();
    await runDueWork();
    failing('observe', 'transient', 'no route');
    world.clock.advanceS(1);
    await runDueWork();
    await told(id, 'no route', 'observe');
  });

  it('power', async () => {
    const id = await order();
    await runDueWork();
    await world.service.compute.power(id, 'off');
    failing('power', 'refused', 'no such machine');
    world.clock.advanceS(1);
    await runDueWork();
    await told(id, 'no such machine', 'observe');
  });

  it('remove, before the host is left', async () => {
    const id = await order();
    failing('ensure', 'host', 'the pool is full');
    failing('remove', 'transient', 'no answer');
    await runDueWork();
    await told(id, 'no answer', 'leave_host');
  });

  it('remove, of a server that is given up', async () => {
    const id = await order();
    failing('ensure', 'refused', 'no such image');
    failing('remove', 'transient', 'no answer');
    await runDueWork();
    await told(id, 'no answer', 'give_up');
  });
});

describe('a server that could not be made', () => {
  const errors = () => lines.filter(({ level }) => level === 'error').map(({ what }) => what);

  it('is told once as an error, with what the last host said', async () => {
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

  it('because it was refused is told once as an error, with the reason', async () => {
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

  it('because its install took too long is told with that', async () => {
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

  it('and cannot be removed is told of again and again, by the id that the customer sees', async () => {
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

describe('a call to the driver that is never answered', () => {
  const never = () => new Promise<never>(() => undefined);
  /** The limits of calls pass at once; other time-outs stay as they are. */
  function hurry(): number[] {
    const limits: number[] = [];
    const { setTimeout } = globalThis;
    mock.method(globalThis, 'setTimeout', (run: () => void, ms?: number) => {
      if (ms !== 30_000 && ms !== 60_000) return setTimeout(run, ms);
      limits.push(ms);
      return setTimeout(run, 1);
    });
    return limits;
  }

  it('ends after its time as one that may pass', async () => {
    await assert.rejects(withDriverTimeout(1, never()), (error) => {
      assert.ok(error instanceof ComputeError);
      return error.fault === 'transient';
    });
    assert.equal(await withDriverTimeout(1_000, Promise.resolve(7)), 7);
    const mine = new Error('mine');
    await assert.rejects(withDriverTimeout(1_000, Promise.reject(mine)), mine);
  });

  it('leaves no timer behind when it is answered, and keeps no process alive', async () => {
    const timers = mock.method(globalThis, 'setTimeout');
    const cleared = mock.method(globalThis, 'clearTimeout');
    await withDriverTimeout(60_000, Promise.resolve());
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
    it(`holds nothing for ever: ${verb}`, { timeout: 20_000 }, async () => {
      const id = await order();
      if (verb === 'remove') failing('ensure', 'host', 'the pool is full');
      if (verb === 'observe' || verb === 'power') await runDueWork();
      if (verb === 'power') {
        // Answered before any limit, however short.
        mock.method(world.service.compute, 'observe', async (ids: readonly string[]) =>
          ids.map((each) => ({ id: each, host: hosts[0], state: 'stopped' })),
        );
      }
      world.clock.advanceS(1);
      const limits = hurry();
      const hanging = mock.method(world.service.compute, verb, never);
      assert.ok(await runDueWork());
      assert.ok(hanging.mock.callCount() > 0);
      assert.ok(limits.includes(ms));
      assert.ok(warned(`no answer within ${ms / 1_000} s`).length > 0);
      mock.restoreAll();
      await world.runUntilIdle();
      if (verb === 'remove') assert.equal(await readBalance(world.db, actor.customerId), 10_000n);
      else assert.equal(await status(id), 'running');
      await world.assertInvariants();
    });
  }
});
