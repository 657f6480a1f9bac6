/**
 * `skerry apply` never deletes early, orders twice, removes a firewall, or reports unfinished work as done.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PUBLIC_KEY } from '../../http/v1/contract/estate.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { startWorld, type World } from '../../support/world.ts';
import type { CliResult } from '../support/run-cli.ts';
import { runOnTerminal } from '../support/run-on-terminal.ts';
import { startProxy } from './support/proxy.ts';
import { applyUntilKilled, openShop, type Shop } from './support/shop.ts';

const ENV = { SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000', SKERRY_SIM_INSTALL_S: '1' };
const HEAD = 'project: shop\nssh_keys: [{ name: laptop, public_key_file: id.pub }]\nservers:\n';
const server = (name: string, more = '') =>
  `  - { name: ${name}, plan: s1, region: par, image: debian-12, ssh_keys: [laptop]${more} }\n`;
const group = (name: string, servers: string) =>
  `firewall_groups: [{ name: ${name}, default_action: drop, rules: [], servers: [${servers}] }]\n`;
const volume = (name: string, holder: string) =>
  `volumes: [{ name: ${name}, region: par, size_gb: 10, server: ${holder} }]\n`;

const isOrder = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === 'POST' && path === '/v1/servers';

describe('skerry apply with failures and concurrent changes', () => {
  let world: World;
  before(async () => {
    world = await startWorld(ENV);
  });
  after(() => world.close());

  const shopOf = async (text: string): Promise<Shop> => {
    const shop = await openShop(world);
    shop.write(text);
    return shop;
  };
  const assertDone = async (shop: Shop, ...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await shop.apply('--yes', ...words);
    assert.equal(code, 0, stdout + stderr);
    return stdout;
  };
  const through = async (
    shop: Shop,
    between: Parameters<typeof startProxy>[1],
    ...words: readonly string[]
  ): Promise<CliResult> => {
    const proxy = await startProxy(world.url, between);
    try {
      const at = { cwd: shop.folder, env: { SKERRY_API_URL: proxy.url } };
      return await shop.cli.with(at, 'apply', '-f', 'skerry.yaml', '--yes', ...words);
    } finally {
      await proxy.close();
    }
  };
  const refusing = (path: string) => async (asked: { readonly method: string; readonly path: string }) =>
    asked.method === 'POST' && asked.path === path ? { status: 422, code: 'unprocessable' } : undefined;

  it('apply creates no server without the firewall group that the file defines for it', async () => {
    const shop = await shopOf(HEAD + server('web-1') + group('web', 'web-1'));
    const { code, stdout } = await through(shop, refusing('/v1/firewall/groups'));
    assert.equal(code, 10, stdout);
    assert.match(stdout, /FAILED {2}\+ .*: Refused\.; request ID: req_test/);
    assert.match(stdout, /SKIPPED \+ server web-1: firewall group web failed/);
    assert.deepEqual(await shop.named('/servers'), {});
  });

  it('two concurrent runs of apply place one order', FULL_ONLY, async () => {
    const shop = await shopOf(HEAD + server('web-1') + volume('data', 'web-1'));
    const both = await Promise.all([shop.apply('--yes'), shop.apply('--yes')]);
    for (const { code, stdout, stderr } of both) assert.equal(code, 0, stdout + stderr);
    const { body: servers } = await shop.api.get('/servers');
    const { body: volumes } = await shop.api.get('/volumes');
    assert.deepEqual([servers.data.length, volumes.data.length], [1, 1]);
    assert.match(await assertDone(shop), /nothing to do/);
  });

  it('apply repeats an order after the first server was deleted', FULL_ONLY, async () => {
    const shop = await shopOf(HEAD + server('web-1'));
    await assertDone(shop);
    const { 'web-1': first } = await shop.named('/servers');
    shop.write('project: shop\nservers: []\n');
    await assertDone(shop);
    await world.settle();
    shop.write(HEAD + server('web-1'));
    await assertDone(shop);
    const { 'web-1': second } = await shop.named('/servers');
    assert.notEqual(second.id, first.id);
  });

  it(
    'apply --no-wait deletes and detaches nothing before the replacement is running',
    FULL_ONLY,
    async () => {
      const shop = await shopOf(HEAD + server('web-1') + volume('data', 'web-1'));
      // The order attaches the volume.
      assert.match(await assertDone(shop, '--no-wait'), /done {4}\+ volume data/);
      assert.notEqual((await shop.named('/volumes')).data.attached_to, null);
      // The second run waits for the server that the first one created.
      await assertDone(shop);
      const before = await shop.named('/servers');
      shop.write(HEAD + server('web-2') + volume('data', 'web-2'));
      const left = await assertDone(shop, '--no-wait');
      assert.match(left, /left {4}~ volume data .*: server web-2 is not running yet/);
      assert.match(left, /left {4}- server web-1 .*: nothing is deleted until web-2 is running/);
      const { data } = await shop.named('/volumes');
      assert.equal(data.attached_to, before['web-1'].id);
      await assertDone(shop);
      await world.settle();
      const servers = await shop.named('/servers');
      assert.deepEqual(Object.keys(servers), ['web-2']);
      assert.equal((await shop.named('/volumes')).data.attached_to, servers['web-2'].id);
    },
  );

  it(
    'apply detaches a volume from a server that will be deleted only after it has stopped',
    FULL_ONLY,
    async () => {
      const shop = await shopOf(HEAD + server('web-1') + volume('data', 'web-1'));
      await assertDone(shop);
      const { 'web-1': old } = await shop.named('/servers');
      const { data } = await shop.named('/volumes');
      shop.write(HEAD + server('web-1').replace('s1', 's2') + volume('data', 'web-1'));
      const seen: string[] = [];
      const { code, stdout, stderr } = await through(shop, async ({ method, path }) => {
        if (method === 'POST' && path === `/v1/servers/${old.id}/stop`) seen.push('stop');
        if (method === 'POST' && path === `/v1/volumes/${data.id}/detach`) {
          seen.push((await shop.api.get(`/servers/${old.id}`)).body.status);
        }
        return undefined;
      });
      assert.equal(code, 0, stdout + stderr);
      assert.deepEqual(seen, ['stop', 'stopped']);
      assert.match(stdout, /the old web-1 is stopped first/);
      await world.settle();
      const { 'web-1': made } = await shop.named('/servers');
      assert.equal((await shop.named('/volumes')).data.attached_to, made.id);
      shop.write(HEAD + server('web-2') + volume('data', 'web-2'));
      await assertDone(shop, '--no-wait');
      for (
        let looks = 0;
        looks < 100 && (await shop.named('/servers'))['web-2'].status !== 'running';
        looks++
      )
        await world.settle();
      const left = await assertDone(shop, '--no-wait');
      assert.match(left, /left {4}~ volume data .*: server web-1 is shutting down; run the command again/);
      assert.match(left, /left {4}- server web-1 .*: volume data was left as well/);
      await assertDone(shop);
      await world.settle();
      assert.deepEqual(Object.keys(await shop.named('/servers')), ['web-2']);
    },
  );

  it(
    'apply keeps a replaced server until its replacement is running, also in the next run',
    FULL_ONLY,
    async () => {
      const shop = await shopOf(HEAD + server('web-1'));
      await assertDone(shop);
      shop.write(HEAD + server('web-1').replace('s1', 's2'));
      await assertDone(shop, '--no-wait');
      const left = await assertDone(shop, '--no-wait');
      const { body } = await shop.api.get('/servers');
      const statuses = body.data.map(({ status }: { status: string }) => status).sort();
      // The new server may be running by now; the old one must not be deleted while it is not.
      assert.ok(!statuses.includes('installing') || statuses.includes('running'), left);
      await assertDone(shop);
      await world.settle();
      const after = await shop.api.get('/servers');
      const ends = after.body.data.map((one: { plan: string; status: string }) => [one.plan, one.status]);
      assert.deepEqual(ends, [['s2', 'running']]);
    },
  );

  it('apply waits for servers of an earlier run without asking for confirmation', FULL_ONLY, async () => {
    const shop = await shopOf(HEAD + server('web-1'));
    await assertDone(shop, '--no-wait');
    const { code, stdout, stderr } = await shop.apply();
    assert.equal(code, 0, stdout + stderr);
    assert.equal((await shop.named('/servers'))['web-1'].status, 'running');
    assert.match(await assertDone(shop), /nothing to do/);
  });

  it('apply continues after a failure, but rebuilds and deletes nothing', FULL_ONLY, async () => {
    const shop = await shopOf(HEAD + server('web-1') + server('old'));
    await assertDone(shop);
    const rebuilt = server('web-1').replace('debian-12', 'debian-13');
    shop.write(HEAD + rebuilt + volume('more', 'null') + group('web', 'web-1'));
    const { code, stdout } = await through(shop, refusing('/v1/firewall/groups'));
    assert.equal(code, 10);
    assert.match(stdout, /FAILED {2}\+ firewall group web: /);
    assert.match(stdout, /done {4}\+ volume more/);
    assert.match(stdout, /left {4}-\/\+ server web-1 .*: nothing is deleted after a failure/);
    assert.match(stdout, /left {4}- server old .*: nothing is deleted after a failure/);
  });

  it('apply keeps servers and labels that another client has added meanwhile', FULL_ONLY, async () => {
    const shop = await shopOf(HEAD + server('web-1') + group('web', 'web-1'));
    await assertDone(shop);
    const { web } = await shop.named('/firewall/groups');
    const { 'web-1': ours } = await shop.named('/servers');
    const { body: other } = await shop.api.post('/servers', {
      name: 'other',
      plan: 's1',
      region: 'par',
      image: ours.image,
      ssh_keys: ours.ssh_keys,
    });
    shop.write(HEAD + server('web-1', ', labels: { env: prod }') + server('web-2') + group('web', 'web-2'));
    let isFirst = true;
    const { code, stdout, stderr } = await through(shop, async ({ path }) => {
      // The first request after the comparison reads this server, right before the first change.
      if (path === `/v1/servers/${ours.id}` && isFirst) {
        isFirst = false;
        await shop.api.patch(`/firewall/groups/${web.id}`, { applied_to: [ours.id, other.id] });
        const labels = { ...ours.labels, team: 'blue' };
        const { status, body } = await shop.api.patch(`/servers/${ours.id}`, { labels });
        assert.equal(status, 200, JSON.stringify(body));
      }
      return undefined;
    });
    assert.equal(code, 0, stdout + stderr);
    const servers = await shop.named('/servers');
    const { web: after } = await shop.named('/firewall/groups');
    assert.deepEqual([...after.applied_to].sort(), [other.id, servers['web-2'].id].sort());
    assert.deepEqual(servers['web-1'].labels, { ...ours.labels, team: 'blue', env: 'prod' });
  });

  it('apply changes nothing after a confirmation if the account has changed since', FULL_ONLY, async () => {
    const shop = await shopOf(HEAD + server('web-1'));
    let reads = 0;
    const proxy = await startProxy(world.url, async ({ path }) => {
      if (path === '/v1/ssh-keys') reads += 1;
      if (path === '/v1/ssh-keys' && reads === 2) {
        const { status } = await shop.api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
        assert.equal(status, 201);
      }
      return undefined;
    });
    const keys = [{ after: 'Continue? [y/N]', press: 'y\r' }];
    const env = { ...shop.cli.env, SKERRY_API_URL: proxy.url };
    const file = `${shop.folder}/skerry.yaml`;
    const { code, screen } = await runOnTerminal({ env, keys }, 'apply', '-f', file);
    await proxy.close();
    assert.equal(code, 6, screen);
    assert.match(screen, /the account has changed since the plan was shown/);
    assert.deepEqual(await shop.named('/servers'), {});
  });

  it('apply keeps waiting while the service is down, and exits with a timeout', FULL_ONLY, async () => {
    const shop = await shopOf(HEAD + server('web-1'));
    let isOrdered = false;
    const { code, stdout } = await through(
      shop,
      async (asked) => {
        if (isOrdered && asked.path === '/v1/servers') return { status: 503, code: 'maintenance' };
        isOrdered ||= isOrder(asked);
        return undefined;
      },
      ...['--timeout', '5'],
    );
    assert.equal(code, 9, stdout);
    assert.match(stdout, /the service does not report its status/);
  });

  it('apply does not treat a failed rebuild as done, even without waiting for it', FULL_ONLY, async () => {
    const shop = await shopOf(HEAD + server('web-1'));
    await assertDone(shop);
    // The generation of its machine no longer matches the service's, so every rebuild of it fails.
    await world.opened.db.run('update sim.machines set generation = 99');
    shop.write(HEAD + server('web-1', ', user_data_file: cloud.yaml'));
    // Two writes: the rebuild, and the mark that it has started.
    assert.deepEqual(await applyUntilKilled(shop, world.url, 2), { wasKilled: true });
    const { 'web-1': pending } = await shop.named('/servers');
    assert.match(pending.labels['skerry-user-data'], /^pending:[0-9a-f]{12}:none$/);
    await world.settle();
    const again = await shop.apply();
    assert.equal(again.code, 11, again.stdout);
    assert.match(again.stdout, /server web-1: rebuild/);
    const { 'web-1': settled } = await shop.named('/servers');
    assert.deepEqual(settled.labels, { 'skerry-project': 'shop' });
  });
});
