/** `skerry apply`: volumes and a snapshot in the order of a server, and alerts on servers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FULL_ONLY } from '../../support/runs.ts';
import { startWorld, type World } from '../../support/world.ts';
import { openShop, type Shop } from './support/shop.ts';

const NO_RATES = { SKERRY_RATE_CAPACITY: '1000', SKERRY_RATE_REFILL_PER_S: '1000' };
const server = (name: string, image: string, more = '') =>
  `  - { name: ${name}, plan: s1, region: par, image: ${image}, ssh_keys: [laptop]${more} }\n`;
const START = `project: shop
ssh_keys: [{ name: laptop, public_key_file: id.pub }]
volumes:
  - { name: data, region: par, size_gb: 10 }
  - { name: logs, region: par, size_gb: 10, server: web-1 }
`;
const HOT = '  - { name: hot, metric: cpu_pct, value: 90, window: 10m, servers: [web-1] }\n';

describe('skerry apply with orders and alerts', () => {
  let world: World;
  let shop: Shop;
  before(async () => {
    world = await startWorld(NO_RATES);
    shop = await openShop(world);
  });
  after(() => world.close());

  const apply = async (text: string): Promise<string> => {
    shop.write(text);
    const { code, stdout, stderr } = await shop.apply('--yes');
    assert.equal(code, 0, stdout + stderr);
    return stdout;
  };
  const auditOf = async (action: string) => (await shop.api.get(`/audit/events?action=${action}`)).body.data;

  it('volumes are attached with the order, and a server that is not started stays stopped', async () => {
    const text = `${START}servers:\n${server('web-1', 'debian-12', ', volumes: [data], start: false')}`;
    assert.match(await apply(text), /server web-1: create\n +plan s1 .*\n +it is not started/);
    const { 'web-1': made } = await shop.named('/servers');
    assert.equal(made.status, 'stopped');
    const { data, logs } = await shop.named('/volumes');
    assert.deepEqual([data.attached_to, logs.attached_to], [made.id, made.id]);
    const ordered = (await auditOf('server.create')).map((one: { request_id: string }) => one.request_id);
    const attached = (await auditOf('volume.attach')).map((one: { request_id: string }) => one.request_id);
    assert.deepEqual(attached, [...ordered, ...ordered]);
    assert.match(await apply(text), /nothing to do/);
  });

  it('a snapshot is the image of a new server, by its name, and changes nothing afterwards', async () => {
    const { 'web-1': source } = await shop.named('/servers');
    await shop.api.post(`/servers/${source.id}/start`);
    await world.settle();
    await shop.api.post(`/servers/${source.id}/snapshots`, { name: 'golden' });
    await world.settle();
    const { golden } = await shop.named('/snapshots');
    assert.equal(golden.status, 'ready');
    const text = (image: string) =>
      `${START}servers:\n${server('web-1', 'debian-12')}${server('web-2', image)}`;
    assert.match(await apply(text('golden')), /server web-2: create\n +plan s1 in par with snapshot golden/);
    for (const image of ['golden', golden.id]) assert.match(await apply(text(image)), /nothing to do/);
    shop.write(text('golden').replace('region: par, image: golden', 'region: zrh, image: golden'));
    const { code, stderr } = await shop.apply('--dry-run');
    assert.deepEqual([code, /rebuild|replace/.test(stderr)], [2, false], stderr);
    assert.match(stderr, /servers\[1\]\.image: snapshot golden is in par, but the server is in zrh/);
    shop.write(
      text('golden').replace(
        'image: golden, ssh_keys: [laptop]',
        'image: golden, ssh_keys: [laptop], user_data: x',
      ),
    );
    assert.match((await shop.apply('--dry-run')).stderr, /from a snapshot cannot be rebuilt/);
  });

  it('alerts are created, changed, moved to a new server, and deleted', FULL_ONLY, async () => {
    const servers = server('web-1', 'debian-12') + server('web-2', 'debian-12');
    const text = (alerts: string, more = '') => `${START}servers:\n${servers}${more}alerts:\n${alerts}`;
    const down = '  - { name: down, metric: unreachable, label_selector: "env=prod, team==web" }\n';
    assert.match(await apply(text(HOT + down)), /alert hot: create\n +cpu_pct above 90 for 10m, of web-1/);
    const made = await shop.named('/alerts');
    assert.equal(made.down.label_selector, 'env=prod,team=web');
    assert.match(await apply(text(HOT + down)), /nothing to do/);
    const changed = HOT.replace('90', '95').replace('[web-1]', '[web-1, web-3]');
    const shown = await apply(text(changed + down, server('web-3', 'debian-12')));
    assert.match(shown, /alert hot: change\n +value: 90 → 95\n +servers: web-1 → web-1, web-3/);
    const { hot } = await shop.named('/alerts');
    const { 'web-1': one, 'web-3': three } = await shop.named('/servers');
    assert.deepEqual(
      [hot.id, hot.value, [...hot.servers].sort()],
      [made.hot.id, 95, [one.id, three.id].sort()],
    );
    assert.match(await apply(text('  - { name: hot, absent: true }\n')), /alert hot: delete/);
    assert.deepEqual(Object.keys(await shop.named('/alerts')), ['down']);
  });

  it('problems of alerts and volumes are reported with their place', async () => {
    const listing = (name: string, volumes: string) => server(name, 'debian-12', `, volumes: [${volumes}]`);
    const servers = listing('web-1', 'logs, lost') + listing('web-2', 'logs');
    shop.write(`${START}servers:\n${servers}alerts:
  - { name: a, metric: unreachable, value: 1, label_selector: '' }
  - { name: b, metric: cpu_pct, label_selector: 'env' }
  - { name: c, metric: cpu_pct, value: 1 }
  - { name: d, metric: cpu_pct, value: 1, servers: [db] }
`);
    const { code, stderr } = await shop.apply('--dry-run');
    assert.equal(code, 2);
    for (const problem of [
      'servers[0].volumes[1]: volume "lost" not found in the file',
      'servers[1].volumes[0]: volume "logs" already has the server: web-1',
      'alerts[0].value: is not for the metric unreachable',
      'alerts[1].label_selector: is not pairs such as env=prod,team=web',
      'alerts[2]: requires either servers or label_selector',
      'alerts[3].servers[0]: server "db" not found in the file',
    ]) {
      assert.ok(stderr.includes(problem), `${problem}\n${stderr}`);
    }
  });
});
