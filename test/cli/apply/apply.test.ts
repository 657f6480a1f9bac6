import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../../support/runs.ts';
import { startWorld, type World } from '../../support/world.ts';
import { runOnTerminal } from '../support/run-on-terminal.ts';
import { applyUntilKilled, openShop, type Shop } from './support/shop.ts';

const SHOP = `project: shop
ssh_keys:
  - { name: laptop, public_key_file: id.pub }
servers:
  - name: web-1
    plan: s1
    region: par
    image: debian-12
    ssh_keys: [laptop]
    labels: { env: prod }
    user_data_file: cloud.yaml
    rdns: { ipv4: web-1.example.org }
  - { name: web-2, plan: s1, region: par, image: debian, ssh_keys: [laptop] }
volumes:
  - { name: data, region: par, size_gb: 20, server: web-1 }
firewall_groups:
  - name: web
    default_action: drop
    rules:
      - { direction: in, proto: tcp, port: 443, source: "2001:DB8:0::/32", action: accept }
    servers: [web-1, web-2]
`;
/** Every kind of change: a rebuild, a replacement, a volume that moves, and new firewall rules. */
const CHANGED = `project: shop
servers:
  - name: web-1
    plan: s1
    region: par
    image: debian-13
    ssh_keys: [laptop]
    user_data_file: cloud.yaml
  - name: web-2
    plan: s2
    region: par
    image: debian
    ssh_keys: [laptop]
    rdns: { ipv6: web-2.example.org }
volumes:
  - { name: data, region: par, size_gb: 30, server: web-2 }
firewall_groups:
  - { name: web, default_action: accept, rules: [], servers: [web-2] }
`;
const SMALL = `project: small
ssh_keys: [{ name: laptop, public_key_file: id.pub }]
servers:
  - name: web-1
    plan: s1
    region: par
    image: debian-13
    ssh_keys: [laptop]
    rdns: { ipv4: a.example.org }
`;

const NO_RATES = { SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' };

describe('skerry apply', () => {
  let world: World;
  before(async () => {
    world = await startWorld(NO_RATES);
  });
  after(() => world.close());

  const shopOf = async (text: string, balanceCents?: bigint): Promise<Shop> => {
    const shop = await openShop(world, balanceCents);
    shop.write(text);
    return shop;
  };
  const assertDone = async (shop: Shop, ...words: readonly string[]) => {
    const { code, stdout, stderr } = await shop.apply('--yes', ...words);
    assert.equal(code, 0, stdout + stderr);
    return stdout;
  };
  const assertNothingToDo = async (shop: Shop) => {
    assert.match(await assertDone(shop), /nothing to do/);
  };

  it('apply makes the account match the file, and a second run changes nothing', async () => {
    const shop = await shopOf(SMALL);
    const { code, stdout, stderr } = await shop.apply();
    assert.equal(code, 11, stderr);
    assert.match(stdout, /\+ {3}server web-1: create/);
    assert.match(stderr, /charge USD 7\.35 now; pass --yes/);
    assert.match(await assertDone(shop), /done {4}\+ server web-1 \(srv_/);
    const { 'web-1': server } = await shop.named('/servers');
    assert.deepEqual([server.status, server.labels], ['running', { 'skerry-project': 'small' }]);
    assert.equal(server.ipv4.rdns, 'a.example.org');
    await assertNothingToDo(shop);
  });

  it('apply changes nothing if the balance does not cover the whole plan', FULL_ONLY, async () => {
    const shop = await shopOf(SMALL, 734n);
    const { code, stderr } = await shop.apply('--yes');
    assert.equal(code, 7);
    assert.match(stderr, /you're short by \$0\.01/);
    assert.deepEqual(await shop.named('/ssh-keys'), {});
  });

  it('apply reports all problems of a file at once and changes nothing', async () => {
    const shop = await shopOf(`project: shop
servers:
  - { name: web-1, plan: s9, region: par, image: debian, ssh_keys: [missing] }
  - { name: web-2, plan: s1, region: xyz, image: beos-5, ssh_keys: [missing] }
`);
    const { code, stderr } = await shop.apply('--yes');
    assert.equal(code, 2);
    for (const field of ['[0].plan', '[0].ssh_keys[0]', '[1].region', '[1].image', '[1].ssh_keys[0]']) {
      assert.ok(stderr.includes(`servers${field}: `), `${field}\n${stderr}`);
    }
  });

  it('apply --resize gives a server its new plan instead of replacing it', FULL_ONLY, async () => {
    const shop = await shopOf(SMALL);
    await assertDone(shop);
    const { 'web-1': before } = await shop.named('/servers');
    shop.write(SMALL.replace('plan: s1', 'plan: s2').replace('a.example.org', 'b.example.org'));
    const { stdout, stderr } = await shop.apply('--resize');
    assert.match(
      stdout,
      /~ {3}server web-1: change\n +plan: s1 → s2; the disk keeps .*, and the server restarts/,
    );
    assert.match(stdout, /rdns ipv4: a\.example\.org → b\.example\.org/);
    assert.match(stderr, /charge USD \d+\.\d\d now; pass --yes/);
    await assertDone(shop, '--resize');
    const { 'web-1': after } = await shop.named('/servers');
    assert.deepEqual([after.id, after.plan, after.status], [before.id, 's2', 'running']);
    assert.equal(after.ipv4.rdns, 'b.example.org');
    await assertNothingToDo(shop);
    shop.write(SMALL.replace('plan: s1', 'plan: d9'));
    const refused = await shop.apply('--resize', '--yes');
    assert.deepEqual([refused.code, /cannot be resized to plan d9/.test(refused.stderr)], [7, true]);
  });

  it('apply changes, rebuilds, replaces, and deletes, and reports each step', FULL_ONLY, async () => {
    const shop = await shopOf(SHOP);
    await assertDone(shop);
    await assertNothingToDo(shop);
    const before = await shop.named('/servers');
    shop.write(CHANGED);
    const { stdout: shown } = await shop.apply('--dry-run');
    assert.match(shown, /-\/\+ server web-1: rebuild, its disk is erased\n +image: debian-12 → debian-13/);
    assert.match(shown, /-\/\+ server web-2: replace, .*\n +plan: s1 → s2/);
    assert.match(shown, /size_gb: 20 → 30\n +server: web-1 → web-2/);
    assert.match(shown, /default_action: drop → accept/);
    const result = JSON.parse(await assertDone(shop, '-o', 'json'));
    assert.deepEqual([...new Set(result.results.map((one: { status: string }) => one.status))], ['done']);
    await assertNothingToDo(shop);
    await world.settle();
    const servers = await shop.named('/servers');
    assert.deepEqual(Object.keys(servers).sort(), ['web-1', 'web-2']);
    assert.equal(servers['web-1'].id, before['web-1'].id);
    assert.deepEqual(servers['web-1'].labels, before['web-1'].labels);
    assert.notEqual(servers['web-2'].id, before['web-2'].id);
    const { data } = await shop.named('/volumes');
    assert.deepEqual([data.size_gb, data.attached_to], [30, servers['web-2'].id]);
    const { web } = await shop.named('/firewall/groups');
    assert.deepEqual([web.applied_to, web.rules, web.default_action], [[servers['web-2'].id], [], 'accept']);
    shop.write('project: shop\nservers: []\nvolumes: [{ name: data, absent: true }]\n');
    await assertDone(shop);
    await world.settle();
    assert.deepEqual(await shop.named('/servers'), {});
    assert.deepEqual(await shop.named('/volumes'), {});
  });

  // Every third call is enough: the test of the plan interrupts a model of it at every step.
  it('apply reaches the state in the file after a killed first run', FULL_ONLY, async () => {
    for (let nth = 1; ; nth += 3) {
      const shop = await shopOf(SHOP);
      const { wasKilled } = await applyUntilKilled(shop, world.url, nth);
      await assertDone(shop);
      await assertNothingToDo(shop);
      const { body } = await shop.api.get('/servers');
      assert.deepEqual(body.data.map(({ name }: { name: string }) => name).sort(), ['web-1', 'web-2']);
      if (!wasKilled) break;
    }
  });

  it('apply reaches the state in the file after a killed change', FULL_ONLY, async () => {
    for (let nth = 2; ; nth += 3) {
      const shop = await shopOf(SHOP);
      await assertDone(shop);
      shop.write(CHANGED);
      const { wasKilled } = await applyUntilKilled(shop, world.url, nth);
      await assertDone(shop);
      await assertNothingToDo(shop);
      await world.settle();
      const { body } = await shop.api.get('/servers');
      assert.deepEqual(body.data.map(({ name }: { name: string }) => name).sort(), ['web-1', 'web-2']);
      if (!wasKilled) break;
    }
  });

  it('apply asks on a terminal and changes nothing after a no', FULL_ONLY, async () => {
    const shop = await shopOf(SMALL);
    const keys = [{ after: 'Continue? [y/N]', press: 'n\r' }];
    const file = `${shop.folder}/skerry.yaml`;
    const { code, screen } = await runOnTerminal({ env: shop.cli.env, keys }, 'apply', '-f', file);
    assert.equal(code, 11, screen);
    assert.match(screen, /charge USD 7\.35 now/);
    assert.deepEqual(await shop.named('/servers'), {});
  });

  it('apply --no-wait leaves steps that need a running server to the next run', FULL_ONLY, async () => {
    const shop = await shopOf(SMALL);
    const left = await assertDone(shop, '--no-wait');
    assert.match(left, /left {4}\+ server web-1 .*run the command again to continue/);
    assert.match(await assertDone(shop), /~ {3}server web-1: change\n +rdns ipv4: none → a\.example\.org/);
    await assertNothingToDo(shop);
  });
});
