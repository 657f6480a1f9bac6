import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { deploy } from '../../../src/domain/servers/deploy.ts';
import { serverObject } from '../../../src/domain/servers/object.ts';
import { showId } from '../../../src/kernel/ids.ts';
import { ComputeError } from '../../../src/ports/compute.ts';
import { readBalance } from '../../../src/store/ledger.ts';
import { findServer, type ServerRow } from '../../../src/store/servers.ts';
import { type TestService, testService } from '../../support/service.ts';
import { R1, S1 } from '../../support/stock.ts';

let world: TestService;
let actor: CustomerActor;
let regions = 0;
let regionId: string;
let hosts: string[];

before(async () => {
  world = await testService();
});
after(() => world.close());
/** A region with three hosts, a customer with a hundred dollars. */
beforeEach(async () => {
  mock.restoreAll();
  regionId = `x${regions++}`;
  await world.stock.offer([regionId], [S1, R1]);
  hosts = await world.stock.hosts([3, 2, 1], regionId);
  await world.stock.addresses(5, 5, regionId);
  actor = await world.stock.customer(10_000n);
});

async function order(wanted: Parameters<typeof world.stock.order>[0] = {}): Promise<string> {
  const { server } = await deploy(world.service, actor, world.stock.order({ regionId, ...wanted }));
  // So that the order in which things happened can be read off.
  world.clock.advanceS(1);
  return server.id;
}
async function found(id: string): Promise<ServerRow> {
  const server = await findServer(world.db, id);
  assert.ok(server, 'the server is gone');
  return server;
}
/** The machine as it really is. */
async function machine(id: string) {
  return (await world.simulator.machines()).find((each) => each.id === id);
}
/** Names of hosts on which the region's servers are counted, with the memory they use there. */
async function used(): Promise<Record<string, number>> {
  const rows = await world.db.rows<{ name: string; n: number }>(
    'select name, used_ram_mb / $2::int as n from hosts where region_id = $1 and used_ram_mb > 0',
    [regionId, S1.ram_mb],
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}
async function free(): Promise<{ four: number; six: number }> {
  const row = await world.db.row<{ four: number; six: number }>(
    `select (select count(*)::int from ipv4_addresses where region_id = $1 and server_id is null and free_from <= $2) as four,
            (select count(*)::int from ipv6_prefixes where region_id = $1 and server_id is null and free_from <= $2) as six`,
    [regionId, world.clock.now()],
  );
  assert.ok(row);
  return row;
}
/** One round of due work, without moving the clock. */
const work = () => world.runner.runDue(Date.now() + 10_000);
async function step(id: string): Promise<string | undefined> {
  const row = await world.db.row<{ step: string }>('select step from operations where server_id = $1', [id]);
  return row?.step;
}
async function audited(): Promise<string[]> {
  const rows = await world.db.rows<{ action: string }>(
    `select action || ' ' || result as action from audit_events where customer_id = $1 order by created_at, action`,
    [actor.customerId],
  );
  return rows.map(({ action }) => action);
}

describe('a server that was ordered', () => {
  it('is provisioning, then installing, then running with its addresses', async () => {
    const id = await order();
    assert.equal((await found(id)).status, 'provisioning');
    await work();
    assert.equal((await found(id)).status, 'installing');
    assert.equal(serverObject(await found(id)).ipv4, null);
    await world.rest();
    const server = serverObject(await found(id));
    assert.equal(server.status, 'running');
    assert.match(server.ipv4?.address ?? '', /^10\.\d+\.0\.\d+$/);
    assert.match(server.ipv4?.gateway ?? '', /^10\.\d+\.0\.1$/);
    assert.match(server.ipv6?.prefix ?? '', /^2001:db8:[0-9a-f:]+::\/64$/);
    assert.equal(server.ipv6?.address, server.ipv6?.prefix.replace('/64', '1'));
    await world.sound();
  });

  it('is a machine on the host that was charged for it, with what it was promised', async () => {
    const id = await order({ name: 'mail-2' });
    await world.rest();
    const [server, made] = [await found(id), await machine(id)];
    assert.ok(made);
    assert.deepEqual(await used(), { [made.host]: 1 });
    assert.equal(made.state, 'running');
    assert.deepEqual([made.ramMb, made.diskGb], [S1.ram_mb, S1.disk_gb]);
    assert.deepEqual(made.installed, {
      hostname: 'mail-2',
      image: { id: server.image_id, family: 'debian', version: '13', cloudInit: true },
      ipv4: { address: server.ipv4, gateway: server.ipv4_gateway },
      ipv6: { address: server.ipv6_prefix?.replace('/64', '1'), prefix: server.ipv6_prefix },
      sshKeys: [],
      rootPasswordHashSha256: null,
      userDataSha256: null,
    });
  });

  it('is told of and audited: created and charged at once, running when it runs', async () => {
    const id = await order();
    await world.rest();
    assert.deepEqual(await world.events(actor.customerId), [
      'server.created',
      'billing.charged',
      'server.running',
    ]);
    assert.deepEqual(await audited(), ['server.create ok', 'server.run ok']);
    const event = await world.db.row<{ data: object }>(
      `select data from events where customer_id = $1 and type = 'server.running'`,
      [actor.customerId],
    );
    assert.deepEqual(event?.data, { server: serverObject(await found(id)) });
  });

  it('hands its secrets to the install, and forgets them when that is done', async () => {
    const { keys } = world.service;
    const id = await order({
      rootPasswordSealed: keys.seal('root password', '$6$salt$hash'),
      userDataSealed: keys.seal('user data', '#cloud-config\n'),
    });
    const secrets = () =>
      world.db.row(
        'select root_password_sealed as root, user_data_sealed as data from servers where id = $1',
        [id],
      );
    await work();
    assert.ok(Object.values((await secrets()) ?? {}).every((sealed) => sealed !== null));
    await world.rest();
    assert.deepEqual(await secrets(), { root: null, data: null });
    const installed = (await machine(id))?.installed;
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    assert.equal(installed?.rootPasswordHashSha256, sha256('$6$salt$hash'));
    assert.equal(installed?.userDataSha256, sha256('#cloud-config\n'));
  });

  it('runs on a machine of its own when it is a dedicated one', async () => {
    const [name] = await world.stock.machines(1, R1, regionId);
    const id = await order({ plan: R1 });
    await world.rest();
    assert.equal((await found(id)).status, 'running');
    assert.equal((await machine(id))?.host, name);
    assert.deepEqual(await used(), {});
    await world.sound();
  });
});

describe('a host that fails', () => {
  it('is left for another one, and its room is given back', async () => {
    const id = await order();
    const [failed] = Object.keys(await used());
    await world.faults.set({ driver: 'compute', operation: 'ensure', times: 1 });
    await world.rest();
    const made = await machine(id);
    assert.equal((await found(id)).status, 'running');
    assert.notEqual(made?.host, failed);
    assert.deepEqual(await used(), { [made?.host ?? '']: 1 });
    assert.deepEqual(await world.events(actor.customerId), [
      'server.created',
      'billing.charged',
      'server.running',
    ]);
    await world.sound();
  });

  it('for reasons that might pass is tried five times, a little later each time', async () => {
    const id = await order();
    const [first] = Object.keys(await used());
    const begun = world.clock.now().getTime();
    const tries: { host: string; afterS: number }[] = [];
    const { compute } = world.service;
    const ensure = compute.ensure.bind(compute);
    mock.method(compute, 'ensure', async (spec: Parameters<typeof ensure>[0]) => {
      tries.push({ host: spec.host, afterS: (world.clock.now().getTime() - begun) / 1000 });
      if (spec.host === first) throw new Error('connection reset');
      await ensure(spec);
    });
    await world.rest();
    assert.deepEqual(
      tries.map(({ host, afterS }) => (host === first ? afterS : 'elsewhere')),
      [0, 1, 3, 7, 15, 'elsewhere'],
    );
    assert.equal((await found(id)).status, 'running');
  });

  it('is not left before it has confirmed that it has no such machine', async () => {
    const id = await order();
    const [failed = ''] = Object.keys(await used());
    await work();
    await world.simulator.setHostDown(failed, true);
    // Some minutes of silence, and it is to be left; but a machine may still be there.
    for (let n = 0; n < 40; n++) {
      world.clock.advanceS(30);
      await work();
    }
    assert.equal(await step(id), 'leave_host');
    assert.deepEqual(
      (await world.simulator.machines()).filter((each) => each.id === id).map(({ host }) => host),
      [failed],
    );
    await world.simulator.setHostDown(failed, false);
    await world.rest();
    assert.equal((await found(id)).status, 'running');
    assert.notEqual((await machine(id))?.host, failed);
    await world.sound();
  });

  it('that is silent for a while only is not left', async () => {
    const id = await order();
    const [host = ''] = Object.keys(await used());
    await work();
    await world.simulator.setHostDown(host, true);
    world.clock.advanceS(60);
    await work();
    await world.simulator.setHostDown(host, false);
    await world.rest();
    assert.equal((await machine(id))?.host, host);
    assert.equal((await found(id)).status, 'running');
  });

  it('is left for another machine when the server is a dedicated one', async () => {
    await world.stock.machines(2, R1, regionId);
    const id = await order({ plan: R1 });
    const failed = (await found(id)).machine_id;
    await world.faults.set({ driver: 'compute', operation: 'ensure', times: 1 });
    await world.rest();
    const server = await found(id);
    assert.equal(server.status, 'running');
    assert.notEqual(server.machine_id, failed);
    const taken = await world.db.rows(
      'select id from machines where server_id is not null and region_id = $1',
      [regionId],
    );
    assert.deepEqual(taken, [{ id: server.machine_id }]);
    await world.sound();
  });
});

describe('an install', () => {
  it('whose machine was lost is made again on the same host', async () => {
    const id = await order();
    await work();
    const host = (await machine(id))?.host;
    await world.simulator.lose(id);
    await world.rest();
    assert.equal((await found(id)).status, 'running');
    assert.equal((await machine(id))?.host, host);
    assert.deepEqual(await world.events(actor.customerId), [
      'server.created',
      'billing.charged',
      'server.running',
    ]);
    await world.sound();
  });

  it('whose machine was switched off is switched on again', async () => {
    const id = await order();
    await work();
    await world.service.compute.power(id, 'off');
    await world.rest();
    assert.equal((await machine(id))?.state, 'running');
    assert.equal((await found(id)).status, 'running');
  });

  it('whose machine cannot be switched on is looked at again soon, not at once', async () => {
    const id = await order();
    await work();
    await world.service.compute.power(id, 'off');
    const power = mock.method(world.service.compute, 'power', async () => {
      throw new ComputeError('transient', 'no answer');
    });
    world.clock.advanceS(1);
    await work();
    assert.equal(power.mock.callCount(), 1);
    mock.restoreAll();
    await world.rest();
    assert.equal((await found(id)).status, 'running');
  });

  it('that takes too long is tried on every other host, each for as long, and then given up', async () => {
    const id = await order();
    const looks: string[] = [];
    // A guest that never gets ready.
    mock.method(world.service.compute, 'observe', async (ids: readonly string[]) => {
      const host = (await machine(id))?.host ?? null;
      if (host) looks.push(host);
      return ids.map((each) => ({ id: each, host, state: host ? 'installing' : 'absent' }));
    });
    for (let minutes = 0; minutes < 100 && (await findServer(world.db, id)); minutes++) {
      world.clock.advanceS(60);
      await work();
    }
    assert.equal(await findServer(world.db, id), undefined);
    assert.equal(await readBalance(world.db, actor.customerId), 10_000n);
    for (const host of hosts) {
      const minutes = looks.filter((each) => each === host).length;
      assert.ok(minutes >= 15 && minutes <= 25, `${minutes} minutes on a host`);
    }
    await world.sound();
  });

  it('of one server that cannot be recorded does not hold up another', async () => {
    const [broken, other] = [await order(), await order()];
    await work();
    await world.db.run(
      `create or replace function fail_one() returns trigger language plpgsql as $$
       begin if new.id = '${broken}' and new.status = 'running' then raise exception 'disk full'; end if; return new; end $$`,
    );
    await world.db.run(
      'create trigger fail_one before update on servers for each row execute function fail_one()',
    );
    world.clock.advanceS(5);
    await work();
    assert.equal((await found(other)).status, 'running');
    assert.equal((await found(broken)).status, 'installing');
    await world.db.run('drop trigger fail_one on servers');
    await world.rest();
    assert.equal((await found(broken)).status, 'running');
  });
});

describe('a server that no host can make', () => {
  beforeEach(() => world.faults.set({ driver: 'compute', operation: 'ensure', times: 3 }));

  it('is refunded in full and removed, and its addresses are free at once', async () => {
    const id = await order();
    assert.deepEqual(await free(), { four: 4, six: 4 });
    await world.rest();
    assert.equal(await findServer(world.db, id), undefined);
    assert.equal(await machine(id), undefined);
    assert.equal(await readBalance(world.db, actor.customerId), 10_000n);
    assert.deepEqual(await used(), {});
    assert.deepEqual(await free(), { four: 5, six: 5 });
    const count = await world.db.row('select servers from balances where customer_id = $1', [
      actor.customerId,
    ]);
    assert.deepEqual(count, { servers: 0 });
    await world.sound();
  });

  it('says so: the events, the audit log and the ledger tell it as it was', async () => {
    const id = await order();
    await world.rest();
    assert.deepEqual(await world.events(actor.customerId), [
      'server.created',
      'billing.charged',
      'server.destroyed',
    ]);
    assert.deepEqual(await audited(), ['server.create ok', 'server.destroy ok', 'server.fail error']);
    const last = await world.db.row<{ data: { server: Record<string, unknown> } }>(
      `select data from events where customer_id = $1 and type = 'server.destroyed'`,
      [actor.customerId],
    );
    const { id: shown, status, ipv4 } = last?.data.server ?? {};
    assert.deepEqual(
      { shown, status, ipv4 },
      { shown: showId('server', id), status: 'destroying', ipv4: null },
    );
    const entries = await world.db.rows(
      `select type, amount_cents, credit_account = customer_id as given, balance_after_cents as left
         from transfers where resource_id = $1 order by id`,
      [id],
    );
    assert.deepEqual(entries, [
      { type: 'charge', amount_cents: 500n, given: false, left: 9_500n },
      { type: 'refund', amount_cents: 500n, given: true, left: 10_000n },
    ]);
  });

  it('stays destroying, refunded, until its machine is gone for certain', async () => {
    const id = await order();
    const { compute } = world.service;
    const remove = compute.remove.bind(compute);
    let silent = true;
    mock.method(compute, 'remove', async (machineId: string) => {
      if (silent && (await found(machineId)).status === 'destroying') throw new Error('no answer');
      await remove(machineId);
    });
    for (let n = 0; n < 12; n++) {
      world.clock.advanceS(30);
      await work();
    }
    assert.equal((await found(id)).status, 'destroying');
    assert.equal(await readBalance(world.db, actor.customerId), 10_000n);
    assert.deepEqual(await free(), { four: 4, six: 4 });
    silent = false;
    await world.rest();
    assert.equal(await findServer(world.db, id), undefined);
    assert.deepEqual(await free(), { four: 5, six: 5 });
    await world.sound();
  });

  it('may be ordered again with the same money', async () => {
    await order();
    await world.rest();
    const again = await order();
    await world.rest();
    assert.equal((await found(again)).status, 'running');
    assert.equal(await readBalance(world.db, actor.customerId), 9_500n);
  });
});

describe('a server that the driver refuses', () => {
  it('is refunded without trying any other host', async () => {
    const id = await order();
    const ensure = mock.method(world.service.compute, 'ensure', async () => {
      throw new ComputeError('refused', 'no such image');
    });
    await world.rest();
    assert.equal(ensure.mock.callCount(), 1);
    assert.equal(await findServer(world.db, id), undefined);
    assert.equal(await readBalance(world.db, actor.customerId), 10_000n);
    assert.deepEqual(await used(), {});
    await world.sound();
  });
});

describe('a server that is removed after it ran', () => {
  it('leaves its place at once, and its addresses rest for seven days', async () => {
    const id = await order();
    await world.rest();
    await world.db.run(`update servers set status = 'destroying' where id = $1`, [id]);
    await world.db.run(
      `insert into operations (id, server_id, kind, step, due_at, created_at)
       values ($1, $1, 'destroy', 'remove', $2, $2)`,
      [id, world.clock.now()],
    );
    await world.rest();
    assert.equal(await findServer(world.db, id), undefined);
    assert.equal(await machine(id), undefined);
    assert.deepEqual(await used(), {});
    world.clock.advanceS(7 * 86_400 - 1);
    assert.deepEqual(await free(), { four: 4, six: 4 });
    world.clock.advanceS(1);
    assert.deepEqual(await free(), { four: 5, six: 5 });
    assert.equal(await readBalance(world.db, actor.customerId), 9_500n);
    await world.sound();
  });
});
