import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { getMetrics } from '../../../src/domain/servers/metrics.ts';
import { setRdns } from '../../../src/domain/servers/rdns.ts';
import { getServer, listServers } from '../../../src/domain/servers/read.ts';
import { patchServer } from '../../../src/domain/servers/update.ts';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { QUOTAS } from '../../../src/spec/limits.ts';
import type { PageRequest } from '../../../src/spec/lists.ts';
import type { RdnsBody, Server } from '../../../src/spec/schemas/server.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

let world: TestService;
let actor: CustomerActor;
let otherCustomer: CustomerActor;
let server: Server;

before(async () => {
  world = await startTestService();
  await world.fixtures.addPlans(['par', 'rkv']);
  await world.fixtures.addHosts([20]);
  await world.fixtures.addHosts([5], 'rkv');
  await world.fixtures.addAddresses(20);
  await world.fixtures.addAddresses(5, 5, 'rkv');
  actor = await world.fixtures.addCustomer(10_000n);
  otherCustomer = await world.fixtures.addCustomer();
  server = await running('web-1');
});
after(() => world.close());

async function order(name: string, regionId = 'par', tags: string[] = []): Promise<string> {
  world.clock.advanceS(1);
  const made = await deploy(world.service, actor, world.fixtures.buildOrder({ name, regionId, tags }));
  return formatId('server', made.server.id);
}
async function running(name: string): Promise<Server> {
  const id = await order(name);
  await world.runUntilIdle();
  return await get(id);
}
const get = (id: string) => getServer(world.service, actor, id);
const refusal = (code: string, field?: string) => (error: { code?: string; extras?: { field?: string } }) => {
  assert.deepEqual([error.code, error.extras?.field], [code, field]);
  return true;
};
const invalidAt =
  (...fields: string[]) =>
  (error: { items?: { field: string }[] }) => {
    assert.deepEqual(
      error.items?.map((item) => item.field),
      fields,
    );
    return true;
  };
const setStatus = (id: string, set: string) =>
  world.db.run(`update servers set ${set} where name = $1`, [id]);

describe('patchServer', () => {
  const patch = (change: Parameters<typeof patchServer>[3], id = server.id, by = actor) =>
    patchServer(world.service, by, id, change);

  it('a patch applies all its fields and returns the server as stored', async () => {
    world.clock.advanceS(60);
    const change = {
      name: 'web-2',
      tags: ['x', 'ü 1'],
      labels: { a: '1', __proto__x: 'y' },
      auto_renew: false,
    };
    const changed = await patch(change);
    assert.deepEqual(changed, { ...server, ...change, updated_at: changed.updated_at });
    assert.ok(changed.updated_at > server.updated_at);
    assert.deepEqual(await get(server.id), changed);
    const cleared = await patch({ tags: [], labels: {} });
    assert.deepEqual([cleared.name, cleared.tags, cleared.labels], ['web-2', [], {}]);
    server = await patch({ name: 'web-1', auto_renew: true });
  });

  it('an empty patch changes nothing', async () => {
    world.clock.advanceS(60);
    assert.deepEqual(await patch({}), server);
    assert.deepEqual(await get(server.id), server);
  });

  it('a server can be patched while an operation is under way', async () => {
    const id = await order('busy');
    assert.equal((await patch({ name: 'busy-2' }, id)).status, 'provisioning');
    await world.runUntilIdle();
    assert.equal((await get(id)).name, 'busy-2');
    assert.equal((await get(id)).status, 'running');
  });

  it('turning auto_renew off makes a server that waits for balance not renewed', async () => {
    const { id } = await running('poor');
    await setStatus('poor', `status = 'suspended', suspended_reason = 'balance'`);
    assert.equal((await patch({ name: 'poor-2' }, id)).suspended_reason, 'balance');
    assert.equal((await patch({ auto_renew: false }, id)).suspended_reason, 'not_renewed');
    assert.equal((await patch({ auto_renew: true }, id)).suspended_reason, 'not_renewed');
    await setStatus('poor-2', `suspended_reason = 'operator'`);
    await assert.rejects(patch({ name: 'x' }, id), refusal('conflict_state'));
    await setStatus('poor-2', `status = 'destroying', suspended_reason = null`);
    await assert.rejects(patch({}, id), refusal('conflict_state'));
    await world.db.run(`update servers set status = 'running' where name = 'poor-2'`);
  });

  it('a server is limited to the tag quota, and only its customer can see or change it', async () => {
    const tags = Array.from({ length: QUOTAS.tagsPerServer + 1 }, (_, n) => `t${n}`);
    await assert.rejects(patch({ tags }), refusal('limit_reached', 'tags'));
    assert.equal((await patch({ tags: tags.slice(1) })).tags.length, QUOTAS.tagsPerServer);
    server = await patch({ tags: [] });
    for (const [id, by] of [
      [server.id, otherCustomer],
      ['srv_x', actor],
    ] as const) {
      await assert.rejects(patch({ name: 'theirs' }, id, by), refusal('not_found'));
      await assert.rejects(getServer(world.service, by, id), refusal('not_found'));
      await assert.rejects(getMetrics(world.service, by, id), refusal('not_found'));
      await assert.rejects(setRdns(world.service, by, id, { ipv4: 'a.b' }), refusal('not_found'));
    }
  });
});

describe('setRdns', () => {
  const rdns = (body: RdnsBody, id = server.id) => setRdns(world.service, actor, id, body);

  it('reverse DNS is set and removed separately for each address', async () => {
    const both = await rdns({ ipv4: 'Four.Example.org', ipv6: 'six.example.org' });
    const own = both.ipv6?.address ?? '';
    assert.equal(both.ipv4?.rdns, 'Four.Example.org');
    assert.equal(both.ipv6?.rdns, 'six.example.org');
    assert.deepEqual(both.ipv6?.rdns_records, { [own]: 'six.example.org' });
    assert.deepEqual(await get(server.id), both);
    const less = await rdns({ ipv4: null });
    assert.deepEqual([less.ipv4?.rdns, less.ipv6?.rdns], [null, 'six.example.org']);
    assert.equal((await rdns({ ipv6: null })).ipv6?.rdns, null);
  });

  it('reverse DNS accepts every address of the /64 in any notation, and none outside', async () => {
    const prefix = (server.ipv6?.prefix ?? '').replace('/64', '');
    const [network = ''] = prefix.split('::');
    const unusual = `${network.toUpperCase()}:0000:0:0:00AB`;
    const set = await rdns({ ipv6: 'mail.example.org', address: unusual });
    assert.deepEqual(set.ipv6?.rdns_records, { [`${prefix}ab`]: 'mail.example.org' });
    assert.equal(set.ipv6?.rdns, null);
    assert.equal((await rdns({ ipv6: 'own', address: `${prefix}1` })).ipv6?.rdns, 'own');
    await rdns({ ipv6: null });
    assert.deepEqual((await rdns({ ipv6: null, address: `${prefix}ab` })).ipv6?.rdns_records, {});
    for (const address of ['2001:db8:ffff::1', '::1']) {
      await assert.rejects(rdns({ ipv6: 'a.b', address }), refusal('invalid_value', 'address'));
    }
    for (const address of ['', '10.0.0.1', '::ffff:10.0.0.1', `${prefix}1%eth0`, `${prefix}1/64`, 'x']) {
      await assert.rejects(rdns({ ipv6: 'a.b', address }), invalidAt('address'), address);
    }
  });

  it('reverse DNS requires a host name to set and a server that has addresses', async () => {
    await assert.rejects(rdns({}), invalidAt('ipv4', 'ipv6'));
    await assert.rejects(rdns({ address: '::1' }), invalidAt('ipv4', 'ipv6'));
    await assert.rejects(rdns({ ipv4: 'a.b', address: '::1' }), invalidAt('ipv6'));
    const early = await order('early');
    await assert.rejects(rdns({ ipv4: 'a.b' }, early), refusal('conflict_state'));
    await world.runUntilIdle();
    assert.equal((await rdns({ ipv4: 'a.b' }, early)).ipv4?.rdns, 'a.b');
  });

  it('reverse DNS has at most as many names in a /64 as the quota', async () => {
    const prefix = (server.ipv6?.prefix ?? '').replace('/64', '');
    const full = Object.fromEntries(
      Array.from({ length: QUOTAS.rdnsPerServer }, (_, n) => [`${prefix}${(n + 16).toString(16)}`, 'a.b']),
    );
    await world.db.run('update servers set rdns = $1 where name = $2', [JSON.stringify(full), server.name]);
    await rdns({ ipv4: 'four' });
    await assert.rejects(rdns({ ipv6: 'a.b' }), refusal('limit_reached', 'address'));
    await rdns({ ipv6: null, address: `${prefix}10` });
    await rdns({ ipv6: 'a.b' });
  });
});

describe('listServers', () => {
  const FIRST: PageRequest = { filter: {}, sort: 'created_at', descending: true, after: null, size: 100 };
  async function names(request: Partial<PageRequest> = {}, by = actor): Promise<string[]> {
    const page = await listServers(world.service, by, { ...FIRST, ...request });
    return page.items.map((item) => item.name);
  }

  it("the server list sorts by age or name in pages, and hides other customers' servers", async () => {
    await order('aaa', 'rkv', ['blue', 'x']);
    await order('aab', 'rkv', ['blue']);
    await world.runUntilIdle();
    const all = await names();
    assert.deepEqual(all.slice(0, 2), ['aab', 'aaa']);
    assert.deepEqual(await names({ descending: false }), all.toReversed());
    assert.deepEqual(await names({ sort: 'name', descending: false }), all.toSorted());
    assert.deepEqual(await names({}, otherCustomer), []);
    for (const sort of ['created_at', 'name']) {
      const walked: string[] = [];
      let after: PageRequest['after'] = null;
      do {
        const page = await listServers(world.service, actor, { ...FIRST, sort, after, size: 2 });
        walked.push(...page.items.map((item) => item.name));
        after = page.next;
      } while (after);
      assert.deepEqual(walked, await names({ sort }));
    }
  });

  it('the server list filters by each field', async () => {
    const image = (await get(server.id)).image;
    const blue = ['aab', 'aaa'];
    assert.deepEqual(await names({ filter: { region: 'rkv' } }), blue);
    assert.deepEqual(await names({ filter: { tag: 'blue' } }), blue);
    assert.deepEqual(await names({ filter: { tag: 'blue', name: 'aaa' } }), ['aaa']);
    assert.deepEqual(await names({ filter: { region: 'rkv', status: 'running', plan: 's1', image } }), blue);
    for (const filter of [
      { status: 'stopped' },
      { plan: 's2' },
      { tag: 'blu' },
      { image: 'img_x' },
      { region: 'zrh' },
    ]) {
      assert.deepEqual(await names({ filter: filter as Record<string, string> }), []);
    }
    const other = formatId('image', newId(new Date()));
    assert.deepEqual(await names({ filter: { image: other } }), []);
  });
});
