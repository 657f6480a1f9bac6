/**
 * Runs each step of an operation twice, and kills it between its driver call and its commit: the customer and
 * the ledger must see one effect.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor, Service } from '../../../../src/domain/context.ts';
import { deploy } from '../../../../src/domain/servers/deploy/deploy.ts';
import { rebootServer, rescueServer, stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { rebuildServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import { LeaseLost } from '../../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../../src/kernel/ids.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import { readBalance } from '../../../../src/store/ledger/ledger.ts';
import type { OperationRow, OperationStep } from '../../../../src/store/servers/operations.ts';
import { claimOperations } from '../../../../src/store/servers/operations.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { S1 } from '../../../support/fixtures.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';
import { crashingService, runStep, serviceWithHook, type Verb } from './lost-process.ts';

const LEASE_S = 60;
const RUN_EVENTS = ['server.created', 'billing.charged', 'server.running'];
const REFUNDED = ['server.created', 'billing.charged', 'server.destroyed'];

let world: TestService;
let actor: CustomerActor;
let serverId: string;
let regions = 0;

before(async () => {
  world = await startTestService();
});
after(() => world.close());
/** Orders a server in its own region, which has one other host. */
beforeEach(async () => {
  const regionId = `x${regions++}`;
  await world.fixtures.addPlans([regionId], [S1]);
  await world.fixtures.addHosts([1, 1], regionId);
  await world.fixtures.addAddresses(1, 1, regionId);
  actor = await world.fixtures.addCustomer(S1.price_cents_month);
  serverId = (await deploy(world.service, actor, world.fixtures.buildOrder({ regionId }))).server.id;
  world.clock.advanceS(1);
});
afterEach(async () => {
  await failing(0);
  await world.db.run('update operations set lease_id = null, leased_until = null');
  await world.runUntilIdle();
});

const run = (operation: OperationRow, service = world.service) => runStep(service, operation);

/** Runs a step whose lease was lost. It may throw LeaseLost instead of writing nothing. */
async function runStale(operation: OperationRow, service?: Service): Promise<void> {
  await run(operation, service).catch((error: unknown) => {
    if (!(error instanceof LeaseLost)) throw error;
  });
}

async function claim(): Promise<OperationRow> {
  const now = world.clock.now();
  const claimed = await claimOperations(world.db, { leaseId: newId(now), now, leaseS: LEASE_S, limit: 1 });
  assert.equal(claimed[0]?.server_id, serverId);
  return claimed[0];
}

/** Runs steps until one of this kind is claimed. */
async function claimStep(step: OperationStep): Promise<OperationRow> {
  for (let n = 0; n < 20; n++) {
    const operation = await claim();
    if (operation.step === step) return operation;
    await run(operation);
    const due = await world.runner.nextDue();
    if (due && due > world.clock.now()) world.clock.moveTo(due);
  }
  assert.fail(`step ${step} was not reached`);
}

const failing = (times: number) => world.faults.set({ driver: 'compute', operation: 'ensure', times });

interface Case {
  readonly name: string;
  readonly lead: () => Promise<OperationRow>;
  /** The driver call that the step makes. */
  readonly verb: Verb;
  readonly events: readonly string[];
}

/** Waits until the server runs, requests the operation, and runs steps until one of this kind is claimed. */
async function claimOf(
  act: (service: Service, actor: CustomerActor, shown: string) => Promise<unknown>,
  step: OperationStep,
): Promise<OperationRow> {
  await world.runUntilIdle();
  world.clock.advanceS(1);
  await act(world.service, actor, formatId('server', serverId));
  return await claimStep(step);
}

const reboot = (hard: boolean) => (service: Service, by: CustomerActor, shown: string) =>
  rebootServer(service, by, shown, { hard });

async function rebuild(service: Service, by: CustomerActor, shown: string): Promise<unknown> {
  const keyId = newId(world.clock.now());
  await world.db.run(
    `insert into ssh_keys (id, customer_id, name, type, fingerprint, public_key, created_at)
     values ($1, $2, 'key', 'ssh-ed25519', 'SHA256:x', 'ssh-ed25519 AAAA', now())`,
    [keyId, by.customerId],
  );
  return await rebuildServer(service, by, shown, { ssh_keys: [formatId('sshKey', keyId)] });
}

const REBOOTED = [...RUN_EVENTS, 'server.rebooted'];
const REBUILT = [...RUN_EVENTS, 'server.rebuilt'];

const CASES: readonly Case[] = [
  {
    name: 'shut_down',
    lead: () => claimOf(stopServer, 'shut_down'),
    verb: 'power',
    events: [...RUN_EVENTS, 'server.stopped'],
  },
  {
    name: 'wait_off, off',
    lead: async () => {
      await run(await claimOf(stopServer, 'shut_down'));
      world.clock.advanceS(10);
      return await claim();
    },
    verb: 'observe',
    events: [...RUN_EVENTS, 'server.stopped'],
  },
  { name: 'wait_on, off', lead: () => claimOf(reboot(false), 'wait_on'), verb: 'power', events: REBOOTED },
  { name: 'reset', lead: () => claimOf(reboot(true), 'reset'), verb: 'power', events: REBOOTED },
  { name: 'wait_on, on', lead: () => claimOf(reboot(true), 'wait_on'), verb: 'observe', events: REBOOTED },
  {
    name: 'enter_rescue',
    lead: () => claimOf(rescueServer, 'enter_rescue'),
    verb: 'rescue',
    events: REBOOTED,
  },
  { name: 'reinstall', lead: () => claimOf(rebuild, 'reinstall'), verb: 'rebuild', events: REBUILT },
  {
    name: 'wait_installed, running',
    lead: async () => {
      await run(await claimOf(rebuild, 'reinstall'));
      world.clock.advanceS(10);
      return await claim();
    },
    verb: 'observe',
    events: REBUILT,
  },
  {
    name: 'go_back',
    lead: async () => {
      const refusal = mock.method(world.service.compute, 'rebuild', async () => {
        throw new ComputeError('refused', 'no room');
      });
      const operation = await claimOf(rebuild, 'go_back');
      refusal.mock.restore();
      return operation;
    },
    verb: 'observe',
    events: RUN_EVENTS,
  },
  { name: 'ensure, on its host', lead: () => claimStep('ensure'), verb: 'ensure', events: RUN_EVENTS },
  {
    name: 'ensure, on another host',
    lead: async () => {
      await failing(1);
      await run(await claimStep('leave_host'));
      return await claim();
    },
    verb: 'ensure',
    events: RUN_EVENTS,
  },
  {
    name: 'observe, still installing',
    lead: () => claimStep('observe'),
    verb: 'observe',
    events: RUN_EVENTS,
  },
  {
    name: 'observe, running',
    lead: async () => {
      await run(await claimStep('ensure'));
      world.clock.advanceS(10);
      return await claim();
    },
    verb: 'observe',
    events: RUN_EVENTS,
  },
  {
    name: 'observe, lost',
    lead: async () => {
      await run(await claimStep('ensure'));
      await world.simulator.loseMachine(serverId);
      world.clock.advanceS(1);
      return await claim();
    },
    verb: 'observe',
    events: RUN_EVENTS,
  },
  {
    name: 'leave_host, for another host',
    lead: async () => {
      await failing(1);
      return await claimStep('leave_host');
    },
    verb: 'remove',
    events: RUN_EVENTS,
  },
  {
    name: 'leave_host, with no host left',
    lead: async () => {
      await failing(2);
      await run(await claimStep('leave_host'));
      return await claimStep('leave_host');
    },
    verb: 'remove',
    events: REFUNDED,
  },
  {
    name: 'give_up',
    lead: async () => {
      const refusal = mock.method(world.service.compute, 'ensure', async () => {
        throw new ComputeError('refused', 'no such image');
      });
      const operation = await claimStep('give_up');
      refusal.mock.restore();
      return operation;
    },
    verb: 'remove',
    events: REFUNDED,
  },
  {
    name: 'remove',
    lead: async () => {
      await failing(2);
      return await claimStep('remove');
    },
    verb: 'remove',
    events: REFUNDED,
  },
];

const LEASE = ['lease_id', 'leased_until'];
const steal = () => world.db.run('update operations set lease_id = $1', [newId(new Date())]);
const endLeases = () =>
  world.db.run(`update operations set leased_until = clock_timestamp() - interval '1 second'`);

for (const { name, lead, verb, events } of CASES) {
  describe(`the step "${name}"`, () => {
    it(`the step "${name}" changes nothing when it runs again after its commit`, async () => {
      const operation = await lead();
      await run(operation);
      const [recorded, machines] = [await dumpTables(world.db), await world.simulator.machines()];
      await runStale(operation);
      assert.deepEqual(await dumpTables(world.db), recorded);
      assert.deepEqual(await world.simulator.machines(), machines);
    });

    it(`the step "${name}" writes nothing when it loses its lease during the driver call`, async () => {
      const operation = await lead();
      const before = await dumpTables(world.db, LEASE);
      await runStale(operation, serviceWithHook(world.service, verb, steal));
      assert.deepEqual(await dumpTables(world.db, LEASE), before);
    });

    it(`the step "${name}" takes effect once when its worker dies before the commit`, async () => {
      const operation = await lead();
      const before = await dumpTables(world.db);
      await run(operation, crashingService(world.service, verb)).catch(() => undefined);
      assert.deepEqual(await dumpTables(world.db), before);
      await endLeases();
      world.clock.advanceS(1);
      await world.runUntilIdle();
      assert.deepEqual(await world.eventTypes(actor.customerId), events);
      await world.assertInvariants();
      const left = (await world.simulator.machines()).filter(({ id }) => id === serverId).length;
      const balance = await readBalance(world.db, actor.customerId);
      assert.deepEqual([left, balance], events === REFUNDED ? [0, S1.price_cents_month] : [1, 0n]);
    });
  });
}

describe('a worker that overslept its lease', () => {
  it('a late worker does not remove the machine that its successor created on another host', async () => {
    await failing(1);
    const stale = await claimStep('leave_host');
    await endLeases();
    await world.runUntilIdle();
    const machines = await world.simulator.machines();
    await runStale(stale);
    assert.deepEqual(await world.simulator.machines(), machines);
    assert.ok(machines.some(({ id }) => id === serverId));
  });
});
