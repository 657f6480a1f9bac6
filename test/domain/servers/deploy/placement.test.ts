import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { CustomerActor } from '../../../../src/domain/context.ts';
import { deploy } from '../../../../src/domain/servers/deploy/deploy.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { findOfferedPlan } from '../../../../src/store/catalogue/offers.ts';
import { releaseHost, reserveOtherHost } from '../../../../src/store/servers/placements.ts';
import { S1, type TestPlan } from '../../../support/fixtures.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import { startTestService, type TestService } from '../../../support/test-service.ts';

const PLANS: readonly TestPlan[] = [
  S1,
  { ...S1, id: 'fast', host_tags: ['nvme'] },
  { ...S1, id: 'large', ram_mb: 3 * S1.ram_mb, host_tags: ['amd', 'nvme'] },
];
const ADDRESSES = 40;

/** A host in the words of the model: sizes in servers of plan s1. */
interface ModelHost {
  readonly ram: number;
  readonly disk: number;
  readonly reserveRam: number;
  readonly reserveDisk: number;
  readonly tags: readonly string[];
  readonly draining: boolean;
  /** Load per core; `old` facts and null are unknown. */
  readonly load: number | 'old' | null;
}

class Model {
  readonly hosts: readonly ModelHost[];
  /** Servers in the order of their deploys. */
  readonly servers: { host: number; customer: number; plan: TestPlan }[] = [];

  constructor(hosts: readonly ModelHost[]) {
    this.hosts = hosts;
  }

  /** Free memory and disk of a host in servers of the plan. */
  room(host: number, plan: TestPlan, useReserve: boolean): number {
    const { ram = 0, disk = 0, reserveRam = 0, reserveDisk = 0 } = this.hosts[host] ?? {};
    const own = this.servers.filter((server) => server.host === host);
    const used = own.reduce((sum, server) => sum + server.plan.ram_mb / S1.ram_mb, 0);
    const kept = useReserve ? { ram: 0, disk: 0 } : { ram: reserveRam, disk: reserveDisk };
    return Math.min(((ram - kept.ram - used) * S1.ram_mb) / plan.ram_mb, disk - kept.disk - own.length);
  }

  fitting(plan: TestPlan, useReserve = false): number[] {
    return [...this.hosts.keys()].filter((host) => {
      const { draining = true, tags = [] } = this.hosts[host] ?? {};
      const tagged = plan.host_tags.every((tag) => tags.includes(tag));
      return !draining && tagged && this.room(host, plan, useReserve) >= 1;
    });
  }

  /** The quarter of the cores that the load keeps busy; two if it is unknown. */
  level(host: number): number {
    const load = this.hosts[host]?.load;
    return typeof load === 'number' ? Math.floor(load * 4) : 2;
  }

  /** How many of the customer's latest 16 servers are on the host. */
  own(host: number, customer: number): number {
    const latest = this.servers.filter((server) => server.customer === customer).slice(-16);
    return latest.filter((server) => server.host === host).length;
  }
}

let world: TestService;
let regions = 0;
before(async () => {
  world = await startTestService();
});
after(() => world.close());

/** Adds a region with these hosts; returns its id and the ids of the hosts. */
async function addRegion(hosts: readonly ModelHost[]): Promise<{ regionId: string; hostIds: string[] }> {
  const regionId = `x${regions++}`;
  await world.fixtures.addPlans([regionId], PLANS);
  await world.fixtures.addAddresses(ADDRESSES, ADDRESSES, regionId);
  const names = await world.fixtures.addHosts(
    hosts.map(() => 1),
    regionId,
  );
  const hostIds: string[] = [];
  for (const [index, host] of hosts.entries()) {
    const row = await world.db.row<{ id: string }>(
      `update hosts set ram_mb = $ram * $ramMb::int, disk_gb = $disk * $diskGb::int, tags = $tags,
              reserve_ram_mb = $reserveRam * $ramMb::int, reserve_disk_gb = $reserveDisk * $diskGb::int,
              draining = $draining
        where name = $name returning id`,
      { ...host, ramMb: S1.ram_mb, diskGb: S1.disk_gb, name: names[index] },
    );
    if (host.load !== null && row !== undefined) await addLoad(row.id, host.load);
    hostIds.push(row?.id ?? '');
  }
  return { regionId, hostIds };
}

async function addLoad(hostId: string, load: number | 'old'): Promise<void> {
  const isOld = load === 'old';
  await world.db.run(
    `insert into host_facts (host_id, seen_at, load)
     values ($1, clock_timestamp() - make_interval(secs => $2), $3)`,
    [hostId, isOld ? 130 : 0, isOld ? 0 : load],
  );
}

/** Deploys; returns the host, or the code of the refusal. */
async function place(actor: CustomerActor, regionId: string, plan: TestPlan) {
  world.clock.advanceS(1);
  const order = world.fixtures.buildOrder({ regionId, plan });
  try {
    const { server } = await deploy(world.service, actor, order);
    const row = await world.db.row<{ host_id: string }>('select host_id from servers where id = $1', [
      server.id,
    ]);
    return { serverId: server.id, hostId: row?.host_id };
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
}

async function isOffered(plan: TestPlan, regionId: string): Promise<boolean> {
  const now = { at: world.clock.now(), dedicated: true };
  const offered = await findOfferedPlan(world.db, now, plan.id);
  return offered?.available_in.includes(regionId) ?? false;
}

const PLAIN: ModelHost = {
  ...{ ram: 9, disk: 9, reserveRam: 0, reserveDisk: 0, tags: [], draining: false },
  load: null,
};
const few = fc.integer({ min: 1, max: 9 });
const reserve = fc.constantFrom(0, 0, 1, 2);
const anyHost = fc.record({
  ram: few,
  disk: few,
  reserveRam: reserve,
  reserveDisk: reserve,
  tags: fc.subarray(['amd', 'intel', 'nvme']),
  draining: fc.constantFrom(false, false, false, true),
  load: fc.constantFrom(null, 'old' as const, 0, 0.2, 0.3, 0.55, 0.9, 1.7),
});

describe('placement', () => {
  it('a deploy spreads the servers of a customer, and then prefers the least loaded host', async (t) => {
    const hosts = fc.array(anyHost, { minLength: 1, maxLength: 8 });
    const order = fc.record({ customer: fc.nat({ max: 1 }), plan: fc.constantFrom(...PLANS) });
    const orders = fc.array(order, { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(hosts, orders, async (modelHosts, wanted) => {
        const model = new Model(modelHosts);
        const { regionId, hostIds } = await addRegion(modelHosts);
        const actors = [
          await world.fixtures.addCustomer(1_000_000n),
          await world.fixtures.addCustomer(1_000_000n),
        ];
        for (const { customer, plan } of wanted) {
          const fitting = model.fitting(plan);
          const actor = actors[customer];
          assert.ok(actor);
          assert.equal(await isOffered(plan, regionId), fitting.length > 0);
          const placed = await place(actor, regionId, plan);
          if (fitting.length === 0) {
            assert.equal(placed, 'out_of_stock');
            continue;
          }
          assert.ok(typeof placed === 'object', `refused as ${String(placed)}`);
          const host = hostIds.indexOf(placed.hostId ?? '');
          const fewest = Math.min(...fitting.map((each) => model.own(each, customer)));
          assert.ok(fitting.includes(host), 'the host does not fit');
          assert.equal(model.own(host, customer), fewest);
          const equal = fitting.filter((each) => model.own(each, customer) === fewest);
          assert.equal(model.level(host), Math.min(...equal.map((each) => model.level(each))));
          model.servers.push({ host, customer, plan });
        }
      }),
      seededRuns(t, PROPERTY_RUNS),
    );
    await world.assertInvariants();
  });

  it('a server that leaves its host goes to the best of the others, also into their reserve', async (t) => {
    const hosts = fc.array(anyHost, { minLength: 2, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(hosts, fc.constantFrom(...PLANS), few, async (modelHosts, plan, count) => {
        const start = { ...PLAIN, ram: 99, disk: 99, tags: ['amd', 'nvme'] };
        const model = new Model([start, ...modelHosts]);
        const { regionId, hostIds } = await addRegion(model.hosts);
        const actor = await world.fixtures.addCustomer(1_000_000n);
        let leaving = '';
        for (let n = 0; n < count; n++) {
          const placed = await place(actor, regionId, plan);
          assert.ok(typeof placed === 'object', `refused as ${String(placed)}`);
          leaving = placed.serverId;
          model.servers.push({ host: hostIds.indexOf(placed.hostId ?? ''), customer: 0, plan });
        }
        const { host: left = 0 } = model.servers.pop() ?? {};
        const taken = await world.db.transaction(async (tx) => {
          await releaseHost(tx, leaving, { state: 'free', now: world.clock.now() });
          return await reserveOtherHost(tx, { id: leaving, excludedHosts: [hostIds[left] ?? ''] });
        });
        const others = model.fitting(plan, true).filter((host) => host !== left);
        // Its own place among the latest is empty while it moves.
        const [best] = others.toSorted(
          (a, b) =>
            model.own(a, 0) - model.own(b, 0) ||
            model.level(a) - model.level(b) ||
            model.room(b, plan, true) - model.room(a, plan, true),
        );
        if (best === undefined) return assert.equal(taken, undefined);
        const host = hostIds.indexOf(taken ?? '');
        assert.ok(others.includes(host), 'the host does not fit');
        assert.equal(model.own(host, 0), model.own(best, 0));
        assert.equal(model.level(host), model.level(best));
        assert.equal(model.room(host, plan, true), model.room(best, plan, true));
      }),
      seededRuns(t, PROPERTY_RUNS),
    );
  });

  it('the servers of one customer go to as many hosts as there are', async () => {
    const { regionId, hostIds } = await addRegion(Array.from({ length: 6 }, () => PLAIN));
    const actor = await world.fixtures.addCustomer(1_000_000n);
    const hosts: (string | undefined)[] = [];
    for (let n = 0; n < 12; n++) {
      const placed = await place(actor, regionId, S1);
      hosts.push(typeof placed === 'object' ? placed.hostId : placed);
    }
    assert.deepEqual(new Set(hosts.slice(0, 6)), new Set(hostIds));
    assert.deepEqual(new Set(hosts.slice(6)), new Set(hostIds));
  });

  it('simultaneous deploys of different customers use several hosts', async () => {
    const { regionId } = await addRegion(Array.from({ length: 4 }, () => ({ ...PLAIN, ram: 20, disk: 20 })));
    const actors = await Promise.all(Array.from({ length: 16 }, () => world.fixtures.addCustomer(10_000n)));
    const placed = await Promise.all(actors.map((actor) => place(actor, regionId, S1)));
    const hosts = new Set(placed.map((each) => (typeof each === 'object' ? each.hostId : each)));
    // All on one of four hosts by chance: once in a billion runs.
    assert.ok(hosts.size > 1);
  });
});
