/** The module `server`: what it creates, changes, refuses, and waits for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { publicKey } from '../../panel/support/estate.ts';
import { type Account, startAccount, WEB } from './support/account.ts';
import { SKIP_SLOW } from './support/ansible.ts';

const SECRET = 'a secret in user data';

describe('the Ansible module server', { skip: SKIP_SLOW }, () => {
  let account: Account;
  before(async () => {
    if (!SKIP_SLOW) account = await startAccount();
  });
  after(() => account?.close());

  const run = (options: object) => account.modules.run('server', options);
  const check = (options: object) => account.modules.check('server', options);
  const list = async () => (await account.api.get('/servers?sort=name')).body.data;
  const web = {
    ...{ ...WEB, name: 'web-1', tags: ['web'], labels: { env: 'prod', tier: 1, blue: true } },
    user_data: `#cloud-config\n# ${SECRET}\n`,
  };
  const LABELS = { env: 'prod', tier: '1', blue: 'true' };

  it('predicts a new server in check mode, creates it once, and then changes nothing', async () => {
    const predicted = await check(web);
    assert.deepEqual([predicted.changed, predicted.server.labels], [true, LABELS]);
    assert.deepEqual(predicted.diff.before, {});
    assert.deepEqual(await list(), []);
    const { changed, server, diff } = await run(web);
    assert.equal(changed, true);
    assert.deepEqual([server.status, server.labels, server.tags], ['running', LABELS, ['web']]);
    assert.deepEqual([diff.before, diff.after.name, diff.after.ipv4], [{}, 'web-1', server.ipv4]);
    const again = await run(web);
    assert.deepEqual([again.changed, again.server.id], [false, server.id]);
    assert.deepEqual(again.diff.before, again.diff.after);
    assert.equal((await list()).length, 1);
  });

  it('never shows user data', async () => {
    const encoded = Buffer.from(web.user_data).toString('base64');
    assert.ok(!account.modules.output().includes(SECRET));
    assert.ok(!account.modules.output().includes(encoded));
    assert.match(account.modules.output(), /"user_data": "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"/);
  });

  it('names all options that a new server lacks', async () => {
    const { failed, msg, changed } = await run({ name: 'web-2', plan: 's1' });
    assert.deepEqual([failed, changed], [true, false]);
    assert.equal(msg, 'to create the server web-2, set region, image, ssh_keys');
    assert.equal((await run({ plan: 's1' })).msg, 'one of the following is required: id, name');
  });

  it('names the option that does not exist or that the service refuses', async () => {
    const message = async (options: object) => {
      const { failed, changed, msg } = await run({ ...WEB, name: 'web-2', ...options });
      assert.deepEqual([failed, changed], [true, false], msg);
      return msg;
    };
    assert.equal(await message({ ssh_keys: ['lost'] }), 'ssh_keys: SSH key "lost" not found');
    assert.equal(await message({ image: 'plan9' }), 'image: no available image is named "plan9"');
    assert.match(
      await message({ name: 'Web_2' }),
      /^name must be lowercase letters.*\(400 invalid_request, req_/,
    );
    assert.match(await message({ plan: 's9' }), /plan.*\(422 unprocessable, req_/);
    assert.match(await message({ labels: { 'no spaces': 'x' } }), /labels.no spaces/);
    const { error } = await run({ ...WEB, name: 'web-2', plan: 's9' });
    assert.deepEqual([error.status, error.errors[0].field], [422, 'plan']);
  });

  it('changes tags, labels, and renewal in place, and shows the difference', async () => {
    const wanted = { name: 'web-1', tags: ['web', 'edge'], labels: { env: 'test' }, auto_renew: false };
    assert.equal((await check(wanted)).changed, true);
    assert.deepEqual((await list())[0].labels, LABELS);
    const { changed, diff, server } = await run(wanted);
    assert.equal(changed, true);
    assert.deepEqual([diff.before.labels, diff.after.labels], [LABELS, { env: 'test' }]);
    assert.deepEqual([server.tags, server.auto_renew], [['web', 'edge'], false]);
    assert.equal((await run({ ...wanted, tags: ['edge', 'web'] })).changed, false);
    assert.equal((await run({ name: 'web-1', auto_renew: true })).changed, true);
  });

  it('refuses to change what is fixed, and changes nothing', async () => {
    const refuse = async (options: object) => {
      const { failed, changed, msg } = await run({ name: 'web-1', labels: { env: 'lost' }, ...options });
      assert.deepEqual([failed, changed], [true, false], msg);
      return msg;
    };
    assert.equal(
      await refuse({ region: 'zrh', billing_months: 12 }),
      'cannot change region, billing_months of an existing server: region is par, not zrh; ' +
        'billing_months is 1, not 12',
    );
    assert.equal(
      await refuse({ image: 'debian-12' }),
      'cannot change image of an existing server: image is debian-13, not debian-12; ' +
        'set rebuild=true to erase the disk and install it',
    );
    assert.deepEqual((await list())[0].labels, { env: 'test' });
  });

  it('rebuilds only for another image, and only with rebuild', async () => {
    const family = await run({ name: 'web-1', image: 'debian', rebuild: true });
    assert.equal(family.changed, false, 'a family accepts every version');
    const wanted = { name: 'web-1', image: 'debian-12', rebuild: true };
    assert.equal((await check(wanted)).changed, true);
    const { changed, server, diff } = await run(wanted);
    assert.deepEqual([changed, server.status], [true, 'running']);
    assert.notEqual(diff.before.image, diff.after.image);
    assert.equal((await run(wanted)).changed, false);
  });

  it('warns about other SSH keys, which only a rebuild writes', async () => {
    const other = { name: 'other', public_key: publicKey(3, 'other') };
    assert.equal((await account.api.post('/ssh-keys', other)).status, 201);
    const { changed, warnings } = await run({ name: 'web-1', ssh_keys: ['other'] });
    assert.equal(changed, false);
    assert.deepEqual(warnings, [
      'ssh_keys: the server web-1 was installed with other SSH keys; they change only with a rebuild',
    ]);
  });

  it('sets single members of the protection, and never lifts what it would break', async () => {
    const protect = (protection: object) => run({ name: 'web-1', protection });
    assert.deepEqual((await protect({ delete: true })).server.protection, { delete: true, rebuild: false });
    const { changed, server, diff } = await protect({ rebuild: true });
    assert.deepEqual([changed, server.protection], [true, { delete: true, rebuild: true }]);
    assert.deepEqual(diff.before.protection, { delete: true, rebuild: false });
    assert.equal((await protect({ delete: true, rebuild: true })).changed, false);
    for (const attempt of [run, check]) {
      const off = { delete: false, rebuild: false };
      const deleted = await attempt({ name: 'web-1', state: 'absent', protection: off });
      assert.match(deleted.msg, /^protection\.delete: the server web-1 is protected/);
      const rebuilt = await attempt({ name: 'web-1', image: 'debian-13', rebuild: true, protection: off });
      assert.match(rebuilt.msg, /^protection\.rebuild: the server web-1 is protected/);
      assert.deepEqual([deleted.changed, rebuilt.changed], [false, false]);
    }
    assert.equal((await protect({ delete: false, rebuild: false })).changed, true);
  });

  it('puts a new server behind firewall groups, and adds an existing server to them', async () => {
    const { api } = account;
    const ids = [];
    for (const name of ['ssh', 'web']) {
      ids.push((await api.post('/firewall/groups', { name, default_action: 'drop' })).body.id);
    }
    const appliedTo = async (id: string) => (await api.get(`/firewall/groups/${id}`)).body.applied_to;
    const fenced = {
      ...WEB,
      name: 'fenced',
      firewall_groups: ['ssh'],
      protection: { rebuild: true },
      wait: false,
    };
    const { server, diff } = await run(fenced);
    assert.deepEqual([server.protection.rebuild, diff.after.firewall_groups], [true, ['ssh']]);
    assert.deepEqual(await appliedTo(ids[0]), [server.id]);
    const both = { name: 'fenced', firewall_groups: ['ssh', ids[1]] };
    assert.equal((await check(both)).changed, true);
    assert.deepEqual(await appliedTo(ids[1]), []);
    const added = await run(both);
    assert.deepEqual([added.changed, added.diff.before.firewall_groups], [true, ['ssh']]);
    assert.deepEqual(await appliedTo(ids[1]), [server.id]);
    assert.equal((await run(both)).changed, false);
    assert.equal((await run({ id: server.id, state: 'absent' })).changed, true);
  });

  it('stops and starts a server, once each', async () => {
    for (const state of ['stopped', 'running']) {
      assert.equal((await check({ name: 'web-1', state })).changed, true);
      const { changed, server, diff } = await run({ name: 'web-1', state });
      assert.deepEqual([changed, server.status, diff.after.status], [true, state, state]);
      assert.equal((await run({ name: 'web-1', state })).changed, false);
    }
    assert.equal((await run({ name: 'web-1' })).server.status, 'running');
  });

  it('sets and removes host names', async () => {
    const wanted = { name: 'web-1', rdns: { ipv4: 'web.example.org' } };
    const { changed, server, diff } = await run(wanted);
    assert.deepEqual([changed, server.ipv4.rdns, diff.before.ipv4.rdns], [true, 'web.example.org', null]);
    assert.equal((await run(wanted)).changed, false);
    const removed = await run({ name: 'web-1', rdns: { ipv4: '' } });
    assert.deepEqual([removed.changed, removed.server.ipv4.rdns], [true, null]);
  });

  it('refuses a name that several servers have, and accepts an ID', async () => {
    const { server: other } = await run({ ...WEB, name: 'web-2' });
    assert.equal((await run({ id: other.id, name: 'web-1' })).changed, true);
    const { failed, msg } = await run({ name: 'web-1', state: 'absent' });
    assert.equal(failed, true);
    assert.match(msg, /^name: more than one server is named "web-1"; use an ID: srv_\w+, srv_\w+$/);
    assert.equal((await check({ id: other.id, state: 'absent' })).changed, true);
    assert.equal((await list()).length, 2);
    assert.deepEqual(
      [await run({ id: other.id, state: 'absent' }), await run({ id: other.id, state: 'absent' })].map(
        ({ changed, server }) => [changed, server],
      ),
      [
        [true, null],
        [false, null],
      ],
    );
    assert.match((await run({ id: other.id })).msg, /^id: server srv_\w+ not found$/);
  });

  it('reports a server that is late, and a server that could not be provisioned', async () => {
    const { world } = account;
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 1_000 });
    const late = await run({ ...WEB, name: 'late', wait_timeout: 1 });
    assert.deepEqual([late.failed, late.changed, late.server.name], [true, true, 'late']);
    assert.match(late.msg, /^the server late is still \w+ after 1 s; the operation continues$/);
    const unattended = await run({ name: 'late', wait: false });
    assert.deepEqual([unattended.changed, unattended.server.ipv4], [false, null]);
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 0 });
    assert.equal((await run({ name: 'late', state: 'absent' })).changed, true);
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1_000 });
    const doomed = account.modules.run('server', { ...WEB, name: 'doomed' });
    await world.settle();
    await world.advance(3_600);
    assert.match(
      (await doomed).msg,
      /^the server doomed could not be provisioned, or was deleted; 7.35 USD was refunded$/,
    );
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 0 });
  });

  it('pays for a new cycle of a server that was not renewed only with renew', async () => {
    await run({ name: 'web-1', auto_renew: false });
    await account.world.advance(32 * 86_400);
    assert.equal((await list())[0].status, 'suspended');
    assert.match((await run({ name: 'web-1', state: 'running' })).msg, /set renew=true to start it and pay/);
    assert.match((await run({ name: 'web-1', state: 'stopped' })).msg, /suspended \(not_renewed\)/);
    const { changed, server } = await run({ name: 'web-1', state: 'running', renew: true });
    assert.deepEqual([changed, server.status], [true, 'running']);
  });

  it('deletes a server and waits until it is gone', async () => {
    assert.equal((await check({ name: 'web-1', state: 'absent' })).changed, true);
    const { changed, server, diff } = await run({ name: 'web-1', state: 'absent' });
    assert.deepEqual([changed, server, diff.after], [true, null, {}]);
    assert.deepEqual(await list(), []);
    assert.equal((await run({ name: 'web-1', state: 'absent' })).changed, false);
  });
});
