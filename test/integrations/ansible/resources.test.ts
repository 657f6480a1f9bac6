/** The modules for volumes, snapshots, SSH keys, and firewall groups, and the info modules. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PUBLIC_KEY } from '../../http/v1/contract/estate.ts';
import { publicKey } from '../../panel/support/estate.ts';
import { type Account, startAccount, WEB } from './support/account.ts';
import { SKIP_SLOW } from './support/ansible.ts';

describe('the Ansible modules for resources', { skip: SKIP_SLOW }, () => {
  let account: Account;
  /** The IDs of two servers. */
  const ids: Record<string, string> = {};
  before(async () => {
    if (SKIP_SLOW) return;
    account = await startAccount();
    for (const name of ['web-1', 'web-2']) {
      ids[name] = (await run('server', { ...WEB, name, labels: { role: name }, wait: false })).server.id;
    }
  });
  after(() => account?.close());

  const run = (module: string, options: object) => account.modules.run(module, options);
  const check = (module: string, options: object) => account.modules.check(module, options);
  const list = async (path: string) => (await account.api.get(path)).body.data;
  /** Runs a module in check mode, then twice; only the first of these runs changes something. */
  const once = async (module: string, options: object, path: string) => {
    const before = await list(path);
    assert.equal((await check(module, options)).changed, true);
    assert.deepEqual(await list(path), before);
    const result = await run(module, options);
    assert.equal(result.changed, true, result.msg);
    const again = await run(module, options);
    assert.deepEqual([again.failed ?? false, again.changed], [false, false], again.msg);
    return result;
  };
  const refuse = async (module: string, options: object) => {
    const { failed, changed, msg } = await run(module, options);
    assert.deepEqual([failed, changed], [true, false], msg);
    return String(msg);
  };

  it('a volume is created, enlarged, attached, moved, detached, and deleted, once each', async () => {
    const volume = (options: object) => once('volume', { name: 'data', ...options }, '/volumes');
    const created = await volume({ size_gb: 20, region: 'par', filesystem: 'ext4' });
    assert.deepEqual([created.volume.size_gb, created.volume.filesystem], [20, 'ext4']);
    const grown = await volume({ size_gb: 30 });
    assert.deepEqual([grown.diff.before.size_gb, grown.diff.after.size_gb], [20, 30]);
    const labeled = await volume({ labels: { env: 'prod', copies: 2 } });
    assert.deepEqual([labeled.diff.before.labels, labeled.volume.labels], [{}, { env: 'prod', copies: '2' }]);
    const attached = await volume({ state: 'attached', server: 'web-1' });
    assert.deepEqual([attached.volume.attached_to, attached.volume.device], [ids['web-1'], '/dev/vdb']);
    const moved = await volume({ state: 'attached', server: ids['web-2'] });
    assert.equal(moved.volume.attached_to, ids['web-2']);
    assert.match(
      await refuse('volume', { name: 'data', state: 'absent' }),
      /attached to the server srv_\w+; detach it first, or set force=true$/,
    );
    assert.equal((await volume({ state: 'detached' })).volume.attached_to, null);
    await run('volume', { name: 'data', state: 'attached', server: 'web-1' });
    const renamed = await run('volume', { id: created.volume.id, name: 'files' });
    assert.deepEqual([renamed.changed, renamed.volume.name], [true, 'files']);
    const deleted = await once('volume', { name: 'files', state: 'absent', force: true }, '/volumes');
    assert.deepEqual([deleted.volume, await list('/volumes')], [null, []]);
  });

  it('an alert is created, changed, moved between servers and labels, and deleted, once each', async () => {
    const alert = (options: object) => once('alert', { name: 'busy', ...options }, '/alerts');
    const created = await alert({ metric: 'cpu_pct', value: 90, window: '10m', servers: ['web-1'] });
    assert.deepEqual([created.alert.value, created.alert.servers], [90, [ids['web-1']]]);
    const raised = await alert({ value: 95.5, compare: 'lt' });
    assert.deepEqual([raised.diff.before.value, raised.diff.after.value], [90, 95.5]);
    const both = await alert({ servers: ['web-2', 'web-1'] });
    assert.deepEqual([...both.alert.servers].sort(), Object.values(ids).sort());
    const labeled = await alert({ label_selector: 'team=web, env=prod' });
    assert.deepEqual([labeled.alert.servers, labeled.alert.label_selector], [null, 'env=prod,team=web']);
    const all = await alert({ label_selector: '', enabled: false });
    assert.deepEqual([all.alert.label_selector, all.alert.enabled], ['', false]);
    const down = await alert({ metric: 'unreachable' });
    assert.deepEqual([down.alert.value, down.alert.compare], [null, null]);
    assert.match(await refuse('alert', { name: 'busy', metric: 'ram_pct' }), /value/);
    assert.match(
      await refuse('alert', { name: 'new', metric: 'unreachable' }),
      /set servers or label_selector/,
    );
    assert.match(
      await refuse('alert', { name: 'busy', servers: ['lost'] }),
      /^servers: server "lost" not found/,
    );
    assert.equal((await alert({ state: 'absent' })).alert, null);
  });

  it('a volume is found by its name in every form of Unicode', async () => {
    await run('volume', { name: 'cafe\u0301', size_gb: 10, region: 'par' });
    assert.equal((await run('volume', { name: 'caf\u00e9' })).changed, false);
    assert.equal((await run('volume', { name: 'cafe\u0301', state: 'absent' })).changed, true);
  });

  it('a volume that is attached when it is created is in the region of its server', async () => {
    const options = { name: 'logs', state: 'attached', server: 'web-1', size_gb: 10 };
    const { volume } = await once('volume', options, '/volumes');
    assert.deepEqual([volume.region, volume.attached_to], ['par', ids['web-1']]);
  });

  it('a volume never shrinks or changes its region, and the message names the option', async () => {
    assert.equal(await refuse('volume', { name: 'lost' }), 'to create the volume lost, set size_gb, region');
    assert.match(
      await refuse('volume', { name: 'x', size_gb: 1, region: 'par' }),
      /^size_gb must be at least 10/,
    );
    await run('volume', { name: 'big', size_gb: 20, region: 'zrh' });
    assert.match(
      await refuse('volume', { name: 'big', size_gb: 10 }),
      /^size_gb: .*has 20 GiB and cannot shrink to 10$/,
    );
    assert.match(await refuse('volume', { name: 'big', region: 'par' }), /region is zrh, not par$/);
    assert.match(
      await refuse('volume', { name: 'big', state: 'attached', server: 'db' }),
      /^server: .*"db" not found$/,
    );
    assert.match(
      await refuse('volume', { name: 'big', state: 'attached', server: 'web-1' }),
      /^server: the volume big is in zrh, but the server web-1 is in par$/,
    );
    assert.match(await refuse('volume', { name: 'big', server: 'web-1' }), /^server is allowed only with/);
  });

  it('a snapshot is created and deleted, once each', async () => {
    const options = { name: 'nightly', server: 'web-1' };
    const { snapshot } = await once('snapshot', options, '/snapshots');
    assert.deepEqual([snapshot.status, snapshot.server], ['ready', ids['web-1']]);
    const other = await once('snapshot', { name: 'nightly', server: 'web-2' }, '/snapshots');
    assert.match(
      await refuse('snapshot', { name: 'nightly', state: 'absent' }),
      /^name: more than one snapshot/,
    );
    assert.match(
      await refuse('snapshot', { name: 'nightly', id: snapshot.id, server: 'web-2' }),
      /^server: /,
    );
    const renamed = await once('snapshot', { id: other.snapshot.id, name: 'weekly' }, '/snapshots');
    assert.equal(renamed.snapshot.name, 'weekly');
    const expiring = { ...options, expires_at: '2040-01-31T01:00:00+01:00' };
    const { diff } = await once('snapshot', expiring, '/snapshots');
    assert.deepEqual([diff.before.expires_at, diff.after.expires_at], [null, '2040-01-31T00:00:00Z']);
    assert.match(await refuse('snapshot', { ...options, expires_at: 'soon' }), /^expires_at /);
    await once('snapshot', { ...options, expires_at: '' }, '/snapshots');
    await once('snapshot', { ...options, state: 'absent' }, '/snapshots');
    await once('snapshot', { id: other.snapshot.id, state: 'absent' }, '/snapshots');
    assert.equal(await refuse('snapshot', { name: 'late' }), 'to create the snapshot late, set server');
  });

  it('a protected volume or snapshot is deleted only after its protection is lifted', async () => {
    for (const [module, options, path] of [
      ['volume', { name: 'kept', size_gb: 10, region: 'par' }, '/volumes'],
      ['snapshot', { name: 'kept', server: 'web-1' }, '/snapshots'],
    ] as const) {
      const { [module]: kept } = await once(module, { ...options, protection: { delete: true } }, path);
      assert.deepEqual(kept.protection, { delete: true });
      const deletion = { name: 'kept', state: 'absent', protection: { delete: false } };
      assert.match(await refuse(module, deletion), /^protection\.delete: the \w+ kept is protected/);
      await once(module, { name: 'kept', protection: { delete: false } }, path);
      await once(module, deletion, path);
    }
  });

  it('a failed snapshot is an error', async () => {
    await account.world.sandbox('faults', { driver: 'compute', operation: 'snapshot', times: 1_000 });
    const failing = run('snapshot', { name: 'bad', server: 'web-1' });
    await account.world.settle();
    await account.world.advance(3_600);
    assert.equal((await failing).msg, 'the snapshot bad is now error');
    await account.world.sandbox('faults', { driver: 'compute', operation: 'snapshot', times: 0 });
    assert.match(
      await refuse('snapshot', { name: 'bad', server: 'web-1' }),
      /^the snapshot bad failed; delete it/,
    );
  });

  it('an SSH key is added, replaced only with force, and deleted', async () => {
    const [first, second] = [publicKey(1, 'one'), publicKey(2, 'two')];
    const added = await once('ssh_key', { name: 'ci', public_key: first }, '/ssh-keys');
    const commented = await run('ssh_key', { name: 'ci', public_key: `${first} again\n` });
    assert.equal(commented.changed, false, 'the comment is not compared');
    const message = await refuse('ssh_key', { name: 'ci', public_key: second });
    assert.match(
      message,
      /^public_key: the SSH key ci is another key \(SHA256:\S+\); set force=true to replace it$/,
    );
    const { diff } = await once('ssh_key', { name: 'ci', public_key: second, force: true }, '/ssh-keys');
    assert.equal(diff.before.fingerprint, added.ssh_key.fingerprint);
    assert.notEqual(diff.after.fingerprint, diff.before.fingerprint);
    assert.match(await refuse('ssh_key', { name: 'x', public_key: 'none' }), /^public_key must be a line/);
    await once('ssh_key', { name: 'ci', state: 'absent' }, '/ssh-keys');
  });

  it('an SSH key that was added twice can be named, and two different keys cannot', async () => {
    const twice = async (line: string) => {
      await account.api.post('/ssh-keys', { name: 'laptop', public_key: line });
      return await check('server', { ...WEB, name: 'web-3' });
    };
    assert.equal((await twice(PUBLIC_KEY)).changed, true);
    await account.api.post('/ssh-keys', { name: 'k_1 of Ada', public_key: PUBLIC_KEY });
    const named = await check('server', { ...WEB, name: 'web-3', ssh_keys: ['k_1 of Ada'] });
    assert.equal(named.changed, true, 'a name may look like an ID');
    assert.match(
      (await twice(publicKey(9, 'other'))).msg,
      /^ssh_keys: more than one SSH key is named "laptop"/,
    );
  });

  it('a firewall group gets rules and servers, once each', async () => {
    const group = (options: object) =>
      once('firewall_group', { name: 'web', ...options }, '/firewall/groups');
    const rules = [
      { proto: 'tcp', port: 443, source: '0.0.0.0/0' },
      { proto: 'icmp', source: '2001:DB8:0:0::/32', note: 'ping' },
    ];
    const created = await group({ default_action: 'drop', rules, servers: ['web-1'] });
    assert.deepEqual(created.firewall_group.applied_to, [ids['web-1']]);
    assert.equal(created.firewall_group.rules[1].source, '2001:db8::/32');
    const changed = await group({ rules: rules.slice(0, 1), default_action: 'accept' });
    assert.deepEqual([changed.diff.before.rules.length, changed.diff.after.rules.length], [2, 1]);
    assert.deepEqual(changed.diff.after.rules[0], {
      ...{ direction: 'in', proto: 'tcp', port: '443', source: '0.0.0.0/0', action: 'accept', note: null },
    });
    const both = await group({ attach: ['web-2'] });
    assert.deepEqual(new Set(both.firewall_group.applied_to), new Set(Object.values(ids)));
    const one = await group({ detach: ['web-1', 'gone'] });
    assert.deepEqual(one.firewall_group.applied_to, [ids['web-2']]);
    assert.match(
      await refuse('firewall_group', { name: 'web', state: 'absent' }),
      /is applied to srv_\w+; detach/,
    );
    await group({ state: 'absent', force: true });
  });

  it('a firewall group names the option that is wrong', async () => {
    const wrong = (options: object) => refuse('firewall_group', { name: 'db', ...options });
    assert.equal(await wrong({}), 'to create the firewall group db, set default_action');
    assert.match(
      await wrong({ default_action: 'drop', servers: ['gone'] }),
      /^servers: server "gone" not found$/,
    );
    assert.match(
      await wrong({ default_action: 'drop', rules: [{ proto: 'tcp', port: '99999', source: '0.0.0.0/0' }] }),
      /rules\.0\.port: max/,
    );
    assert.match(
      await wrong({ default_action: 'drop', attach: ['web-1'], detach: ['web-1'] }),
      /^detach: the server/,
    );
    const exclusive = await run('firewall_group', { name: 'db', servers: [], attach: [] });
    assert.match(exclusive.msg, /^parameters are mutually exclusive: servers\|attach/);
  });

  it('info modules list what matches', async () => {
    const names = async (options: object) =>
      (await run('server_info', options)).servers.map(({ name }: { name: string }) => name);
    assert.deepEqual(await names({}), ['web-2', 'web-1']);
    assert.deepEqual(await names({ labels: { role: 'web-2' }, status: 'running' }), ['web-2']);
    assert.deepEqual(await names({ labels: { role: 'db' } }), []);
    assert.deepEqual(await names({ id: ids['web-1'] }), ['web-1']);
    const images = await run('resource_info', { kind: 'image', filters: { family: 'debian' } });
    assert.ok(images.resources.length > 1 && images.changed === false);
    for (const kind of [
      'plan',
      'region',
      'limit',
      'ssh_key',
      'volume',
      'snapshot',
      'firewall_group',
      'server',
    ]) {
      const { resources } = await run('resource_info', { kind });
      assert.ok(kind === 'firewall_group' || resources.length > 0, kind);
    }
    assert.match(
      await refuse('resource_info', { kind: 'plan', filters: { color: 'red' } }),
      /filter\[color\]/,
    );
  });
});
