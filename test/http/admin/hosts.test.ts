import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { textOf } from '../../support/panel-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

const REASON = { reason: 'ticket 12' };

interface Host {
  readonly id: string;
  readonly state: string;
  readonly tags: readonly string[];
  readonly ram_mb: number;
  readonly contents: readonly { readonly id: string }[];
  readonly moving: readonly { readonly id: string }[];
  readonly findings: readonly { readonly message: string }[];
}

describe('hosts in the console', () => {
  let world: StaffWorld;
  let owner: Person;
  let technician: Person;

  const read = async (name: string) =>
    (await world.api(owner.token, 'GET', `/hosts/${name}`)).body as unknown as Host;
  const act = (name: string, verb: string, body: object = {}) =>
    world.api(technician.token, 'POST', `/hosts/${name}/${verb}`, { ...body, ...REASON });

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    technician = await world.person('technician');
    const customer = await world.customer(40);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };
    await customer.post('/deploy-api.php', { ...order, root_password: 'correct horse battery' });
    await world.settle();
  });
  after(() => world.close());

  it('adds a host, changes its capacity and tags, and removes it', async () => {
    const input = {
      name: 'par-new',
      region: 'par',
      cores: '8',
      ram_mb: '4096',
      disk_gb: '100',
      tags: 'nvme',
    };
    const added = await fill(technician.browser, '/hosts', 'hosts.add', input);
    assert.equal(added.location, '/hosts/par-new?done=saved', textOf(added.text));
    const sized = { cores: '8', ram_mb: '8192', disk_gb: '100' };
    await fill(technician.browser, '/hosts/par-new', 'hosts.resize', sized);
    assert.deepEqual([(await read('par-new')).ram_mb, (await read('par-new')).tags], [8192, ['nvme']]);
    await fill(technician.browser, '/hosts/par-new', 'hosts.set', { tags: '' });
    assert.deepEqual((await read('par-new')).tags, []);
    const bad = await world.api(technician.token, 'PATCH', '/hosts/par-new', { tags: 'NOT A TAG!' });
    assert.equal(bad.status, 400);
    const page = await technician.browser.get('/hosts/par-new');
    assert.match(page.text, /<progress max="100" value="0" aria-label="Memory used">/);
    const removed = await fill(technician.browser, '/hosts/par-new', 'hosts.remove', REASON);
    assert.equal(removed.location, '/hosts?done=saved', textOf(removed.text));
    assert.equal((await world.api(owner.token, 'GET', '/hosts/par-new')).status, 404);
  });

  it('shows what is on a host, and moves everything off without waiting', async () => {
    const { body } = await world.api(owner.token, 'GET', '/servers');
    const [server] = body.data as { id: string; host: string }[];
    const host = server?.host ?? '';
    assert.deepEqual(
      (await read(host)).contents.map(({ id }) => id),
      [server?.id],
    );
    assert.equal((await act(host, 'remove')).status, 400);
    const moved = await act(host, 'move_all', { at_once: 2 });
    assert.deepEqual([moved.status, moved.body.moves_added], [200, 1], JSON.stringify(moved.body));
    await world.settle();
    const { contents, state } = await read(host);
    assert.deepEqual([contents, state], [[], 'drained']);
    assert.equal((await world.api(technician.token, 'POST', `/hosts/${host}/undrain`)).status, 200);
  });

  it('gives a host up only for an owner who types its name', async () => {
    const body = { servers: 'refund', confirm: 'par-2' };
    assert.equal((await act('par-2', 'lose', body)).status, 403);
    const lose = (confirm: string) =>
      world.api(owner.token, 'POST', '/hosts/par-2/lose', { ...body, confirm, ...REASON });
    const wrong = await lose('par-3');
    assert.match(JSON.stringify(wrong.body), /"field":"confirm"/);
    assert.equal((await act('par-2', 'fence')).status, 400);
    assert.equal((await lose('par-2')).status, 200);
    const fenced = await act('par-2', 'fence');
    assert.equal(fenced.status, 200, JSON.stringify(fenced.body));
    assert.equal((await read('par-2')).state, 'lost');
    const log = await world.api(owner.token, 'GET', '/staff_log?operation=hosts.lose&target=par-2');
    const results = (log.body.data as { result: string }[]).map(({ result }) => result);
    assert.deepEqual(results, ['ok', 'error', 'denied']);
  });

  it('keeps the address of an invited host out of the staff log', async () => {
    const host = { name: 'par-far', region: 'par', cores: 8, ram_mb: 4096, disk_gb: 100 };
    const address = '203.0.113.7:7443';
    // Simulated machines need no hosts.
    const refused = await world.api(technician.token, 'POST', '/hosts/invite', { ...host, address });
    assert.equal(refused.status, 400, JSON.stringify(refused.body));
    const log = await world.api(owner.token, 'GET', '/staff_log?operation=hosts.invite');
    const [entry] = log.body.data as { details: object }[];
    assert.deepEqual(entry?.details, host);
  });
});
