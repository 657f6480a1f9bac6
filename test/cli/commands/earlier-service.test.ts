/** Waits of the CLI on a service before API 1.7, which has no actions. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startWorld, type World } from '../../support/world.ts';
import { openShop, type Shop } from '../apply/support/shop.ts';
import { type EarlierService, startEarlierService } from '../support/earlier-service.ts';

const FILE = `project: shop
ssh_keys: [{ name: laptop, public_key_file: id.pub }]
servers:
  - name: web-1
    plan: s1
    region: par
    image: debian-13
    ssh_keys: [laptop]
    user_data: "a"
`;

describe('the CLI with a service before API 1.7', () => {
  let world: World;
  let earlier: EarlierService;
  let shop: Shop;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' });
    earlier = await startEarlierService(world.url);
    shop = await openShop(world);
  });
  after(async () => {
    await earlier.close();
    await world.close();
  });

  const run = async (...words: readonly string[]) => {
    const env = { SKERRY_API_URL: earlier.url };
    const { code, stdout, stderr } = await shop.cli.with({ cwd: shop.folder, env }, ...words, '-o', 'json');
    assert.equal(code, 0, stdout + stderr);
    return stdout === '' ? null : JSON.parse(stdout);
  };

  it('apply waits until a new server runs, and until it is rebuilt', async () => {
    for (const text of [FILE, FILE.replace('"a"', '"b"')]) {
      shop.write(text);
      await run('apply', '-f', 'skerry.yaml', '--yes');
      const { 'web-1': server } = await shop.named('/servers');
      assert.equal(server.status, 'running');
      assert.doesNotMatch(server.labels['skerry-user-data'], /pending/);
    }
  });

  it('commands wait for the status of the resource', async () => {
    const created = await run(
      ...['server', 'create', 'web-2', '--plan', 's1', '--region', 'par'],
      ...['--image', 'debian-13', '--ssh-key', 'laptop'],
    );
    assert.equal(created.status, 'running');
    const restarted = await run('server', 'reboot', 'web-2');
    assert.equal(restarted[0]?.status ?? restarted.status, 'running');
    assert.equal((await run('snapshot', 'create', 'web-2', '--name', 'one')).status, 'ready');
    const stopped = await run('server', 'stop', 'web-2');
    assert.equal(stopped[0]?.status ?? stopped.status, 'stopped');
    await run('server', 'delete', 'web-2', '--yes');
    assert.equal((await shop.named('/servers'))['web-2'], undefined);
    assert.deepEqual(earlier.unknown, []);
  });
});
