/**
 * A server's life on hosts behind TLS, from its order to its deletion. At any call a connection is cut, a
 * host's process is killed, or a process of the control plane is killed and its last call arrives late.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { CustomerActor } from '../../src/domain/context.ts';
import { deploy } from '../../src/domain/servers/deploy/deploy.ts';
import { destroyServer } from '../../src/domain/servers/operations/destroy.ts';
import { rebootServer, startServer, stopServer } from '../../src/domain/servers/operations/power.ts';
import { rebuildServer } from '../../src/domain/servers/operations/reinstall.ts';
import { createSshKey } from '../../src/domain/ssh-keys/change.ts';
import { formatId } from '../../src/kernel/ids.ts';
import { findServer } from '../../src/store/servers/servers.ts';
import { byLevel } from '../support/runs.ts';
import { seededRuns } from '../support/seed.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { type ControlPlane, type Fault, KillWorld } from './host-kill-world.ts';

const PLACES = byLevel({ sample: 6, full: 24, soak: 200 });
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
const IDLE_TIMEOUT_MS = 60_000;

type Action = (shownId: string) => Promise<unknown>;

describe('faults between the control plane and its hosts', () => {
  let world: TestService;
  let kills: KillWorld;
  let actor: CustomerActor;
  let key: string;
  /** Changes of a life without faults. */
  let callsOfLife: number;
  before(async () => {
    world = await startTestService();
    await world.fixtures.addPlans();
    // The address of a deleted server rests for a week.
    await world.fixtures.addAddresses(PLACES + 10);
    actor = await world.fixtures.addCustomer(10_000_000n);
    key = (await createSshKey(world.service, actor, { name: 'key', public_key: PUBLIC_KEY })).id;
    kills = new KillWorld(world);
    for (const name of ['near', 'far']) await kills.addHost(name);
    assert.equal(await live(null), 'lived');
    callsOfLife = kills.arrived;
    assert.ok(callsOfLife >= 6, `${callsOfLife} calls`);
  });
  after(async () => {
    await kills.close();
    await world.close();
  });

  const rest: readonly Action[] = [
    (id) => stopServer(world.service, actor, id),
    (id) => startServer(world.service, actor, id),
    (id) => rebootServer(world.service, actor, id, { hard: true }),
    (id) => rebuildServer(world.service, actor, id, { ssh_keys: [key] }),
    (id) => destroyServer(world.service, actor, id),
  ];

  const fault = fc.record({
    place: fc.nat(),
    kind: fc.constantFrom<readonly [Fault['what'], Fault['moment']]>(
      ['connection', 'sending'],
      ['connection', 'before'],
      ['connection', 'after'],
      ['host', 'before'],
      ['host', 'after'],
      // Its call arrives after those of its successor.
      ['control plane', 'sending'],
      ['control plane', 'sending'],
      ['control plane', 'after'],
    ),
  });

  it('no machine exists twice, none is lost, and a former process changes nothing', async (t) => {
    const outcomes: Record<string, number> = {};
    const property = fc.asyncProperty(fault, async ({ place, kind: [what, moment] }) => {
      const outcome = await live({ at: 1 + (place % callsOfLife), what, moment });
      assert.notEqual(outcome, 'not met');
      const key = `${what} ${moment}: ${outcome}`;
      outcomes[key] = (outcomes[key] ?? 0) + 1;
    });
    await fc.assert(property, { ...seededRuns(t, PLACES), endOnFailure: true });
    t.diagnostic(JSON.stringify(outcomes));
  });

  /** Orders a server, changes it, and deletes it. Returns how that ended. */
  async function live(planned: Fault | null): Promise<string> {
    const processes = [await kills.startProcess()];
    kills.arm(planned);
    const { id } = (await deploy(world.service, actor, world.fixtures.buildOrder())).server;
    await work(processes);
    await requireConsistent(id);
    const order = (await findServer(world.db, id))?.status;
    // No host could be reached, so the order was refunded.
    const actions = order === 'running' ? rest : [];
    for (const action of actions) {
      await action(formatId('server', id));
      await work(processes);
      await requireConsistent(id);
    }
    const isMet = planned === null || !kills.isArmed;
    kills.disarm();
    await deliverLate(processes, id);
    await world.assertInvariants();
    await Promise.all(processes.map((process) => process.close()));
    if (!isMet) return 'not met';
    return actions.length === 0 ? 'refunded' : 'lived';
  }

  /** Works until nothing is left. A process that is killed has a successor. */
  async function work(processes: ControlPlane[]): Promise<void> {
    for (const deadline = performance.now() + IDLE_TIMEOUT_MS; ; ) {
      const process = processes.at(-1) ?? assert.fail();
      const done = process.runner.runDue(deadline).catch(() => false);
      const isIdle = await Promise.race([done, process.killed.then(() => null)]);
      if (isIdle === null) {
        for (const table of ['operations', 'tasks'])
          await world.db.run(`update ${table} set lease_id = null, leased_until = null`);
        processes.push(await kills.startProcess());
        continue;
      }
      assert.ok(performance.now() < deadline, 'the work does not end');
      const next = await process.runner.nextDue();
      if (next === null) return;
      if (next > world.clock.now()) world.clock.moveTo(next);
    }
  }

  /** The server has one machine in its state if it exists, and otherwise none. */
  async function requireConsistent(id: string): Promise<void> {
    const row = await findServer(world.db, id);
    const machines = (await Promise.all(kills.hosts.map(({ machines }) => machines.machines()))).flat();
    const own = machines.filter((machine) => machine.id === id);
    const exists = row !== undefined && ['running', 'stopped'].includes(row.status);
    assert.equal(own.length, exists ? 1 : 0, `${row?.status}: ${own.length} machines`);
    if (exists) assert.equal(own[0]?.state, row.status);
  }

  /** Calls of processes that were killed arrive after those of their successors. */
  async function deliverLate(processes: readonly ControlPlane[], id: string): Promise<void> {
    const count = kills.carriedOut.length;
    for (const former of processes.slice(0, -1)) await former.deliver();
    assert.deepEqual(kills.carriedOut.slice(count), [], 'a late call was carried out');
    await requireConsistent(id);
    const left = await world.db.rows('select from placed_resources where id = $1', [id]);
    assert.equal(left.length, 0);
  }
});
