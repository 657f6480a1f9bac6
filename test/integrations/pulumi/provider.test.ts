/** The Pulumi provider over its protocol, against a sandbox. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fromStruct, plain, UNKNOWN, type Values } from '../../../integrations/pulumi/src/rpc/values.ts';
import {
  createExampleAccount,
  type ExampleAccount,
  startExampleWorld,
} from '../../cli/support/example-account.ts';
import { RULE } from '../../http/v1/contract/estate.ts';
import { publicKey } from '../../panel/support/estate.ts';
import { Engine, errorOf, type Stored, urnOf } from './support/engine.ts';

const SECRET_MARK = { '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270' };
const secret = (value: string): Values => ({ ...SECRET_MARK, value });

describe('the Pulumi provider', () => {
  let account: ExampleAccount;
  let engine: Engine;
  let key: Stored;
  let group: Stored;
  let server: Stored;
  let order: Values;

  before(async () => {
    account = await createExampleAccount(await startExampleWorld());
    engine = await Engine.start();
    await engine.configure({ apiUrl: account.world.url, token: secret(account.token) });
    key = await engine.create('SshKey', 'deploy', { publicKey: publicKey(7, 'me@laptop') });
    const rule = { direction: 'in', proto: 'tcp', port: '443', source: '0.0.0.0/0', action: 'accept' };
    group = await engine.create('FirewallGroup', 'edge', { defaultAction: 'drop', rules: [rule] });
    order = { plan: 's1', region: 'par', image: 'debian-13', sshKeys: [key.id] };
    server = await engine.create('Server', 'app-1', {
      ...{ ...order, firewallGroups: [group.id], labels: { env: 'prod' }, rdns: { ipv4: 'app.example.org' } },
      userData: secret('#cloud-config\n'),
    });
  });
  after(async () => {
    await engine.stop();
    await account.world.close();
  });

  const live = async (path: string) => (await account.api.get(path)).body;

  it('a provider without an account says which settings are missing', async () => {
    const other = await Engine.start();
    try {
      assert.match((await errorOf(other.configure({}))).message, /set skerry:apiUrl and skerry:token/);
      const { message } = await errorOf(other.raw('Read', { urn: urnOf('Server', 'x'), id: 'srv_x' }));
      assert.match(message, /not known yet/);
    } finally {
      await other.stop();
    }
    const env = await Engine.start({ SKERRY_API_URL: account.world.url, SKERRY_TOKEN: account.token });
    await env.configure({});
    assert.equal((await env.import('Server', 'app-1', server.id)).state.name, 'app-1');
    await env.stop();
  });

  it('creates a server that runs, is filtered, and has its host name', async () => {
    const found = await live(`/servers/${server.id}`);
    assert.deepEqual(
      [found.name, found.status, found.labels, found.ipv4.rdns],
      ['app-1', 'running', { env: 'prod' }, 'app.example.org'],
    );
    const state = plain(server.state);
    assert.deepEqual(
      [state.ipv4, state.status, state.image, state.imageId, state.firewallGroups],
      [found.ipv4.address, 'running', 'debian-13', found.image, [group.id]],
    );
    assert.deepEqual((await live(`/firewall/groups/${group.id}`)).applied_to, [server.id]);
  });

  it('user data is secret in the state, and is never read back', async () => {
    assert.deepEqual(server.state.userData, secret('#cloud-config\n'));
    const refreshed = await engine.refresh(server);
    assert.deepEqual(refreshed?.state.userData, secret('#cloud-config\n'));
    assert.deepEqual(refreshed?.inputs.userData, secret('#cloud-config\n'));
  });

  it('a secret input stays secret in the outputs', async () => {
    const shown = await engine.preview('Volume', 'v', { name: secret('hidden'), sizeGb: 10, region: 'par' });
    assert.deepEqual(shown.name, secret('hidden'));
  });

  it('a preview creates nothing, charges nothing, and passes unknown values', async () => {
    const before = await live('/billing/balance');
    const news = { ...order, sshKeys: [UNKNOWN], firewallGroups: UNKNOWN };
    const state = await engine.preview('Server', 'app-2', news);
    assert.deepEqual([state.name, state.ipv4, state.sshKeys], ['app-2', UNKNOWN, [UNKNOWN]]);
    assert.equal((await live('/servers?filter[name]=app-2')).data.length, 0);
    assert.equal((await live('/billing/balance')).usd, before.usd);
  });

  it('wrong inputs fail the check with their property', async () => {
    const urn = urnOf('Server', 'x');
    const failures = await engine.failures(urn, { plan: 1, region: 'par', images: 'x', sshKeys: 'k' });
    assert.deepEqual(
      Object.fromEntries(
        failures.map((one: { property: string; reason: string }) => [one.property, one.reason]),
      ),
      {
        images: 'there is no such property',
        plan: 'a value of the type string is expected',
        image: 'a value is required',
        sshKeys: 'a list is expected',
      },
    );
    const shrink = await engine.failures(urnOf('Volume', 'v'), { sizeGb: 10, region: 'par' }, { sizeGb: 20 });
    assert.match(shrink[0].reason, /cannot shrink: it has 20 GiB/);
    assert.match((await errorOf(engine.failures(urnOf('Host', 'x'), {}))).message, /no resource of the type/);
  });

  it('tells updates from replacements, and ignores what is the same', async () => {
    assert.deepEqual(await engine.plan(server, {}), [[], []]);
    assert.deepEqual(await engine.plan(server, { maxPriceUsd: 5, tags: [] }), [['tags'], []]);
    const changes = { labels: { env: 'test' }, autoRenew: false, plan: 's2', sshKeys: [UNKNOWN] };
    assert.deepEqual(await engine.plan(server, changes), [
      ['autoRenew', 'labels'],
      ['plan', 'sshKeys'],
    ]);
    const { detailedDiff } = await engine.diff(server, { autoRenew: false, plan: 's2' });
    assert.deepEqual([detailedDiff.autoRenew.kind, detailedDiff.plan.kind], ['ADD', 'UPDATE_REPLACE']);
    assert.equal((await engine.diff(server, { plan: 's2' }, ['plan'])).changes, 'DIFF_NONE');
    assert.deepEqual(await engine.plan(server, { userData: '#cloud-config\n# 2\n' }), [[], ['userData']]);
  });

  it('an update changes the server in place, and its preview changes nothing', async () => {
    const news = { labels: { env: 'test' }, tags: ['a'], protection: { delete: true }, firewallGroups: [] };
    const shown = await engine.update(server, news, true);
    assert.deepEqual([shown.state.labels, shown.state.ipv4], [{ env: 'test' }, server.state.ipv4]);
    assert.deepEqual((await live(`/servers/${server.id}`)).labels, { env: 'prod' });
    server = await engine.update(server, { ...news, rdns: { ipv4: null } });
    const found = await live(`/servers/${server.id}`);
    assert.deepEqual([found.labels, found.tags, found.ipv4.rdns], [{ env: 'test' }, ['a'], null]);
    assert.deepEqual(found.protection, { delete: true, rebuild: false });
    assert.deepEqual((await live(`/firewall/groups/${group.id}`)).applied_to, []);
    assert.deepEqual(await engine.plan(server, {}), [[], []]);
    server = await engine.update(server, { firewallGroups: [group.id] });
    assert.deepEqual((await live(`/firewall/groups/${group.id}`)).applied_to, [server.id]);
  });

  it('a protected server is not deleted', async () => {
    const { code, message } = await errorOf(engine.delete(server));
    assert.equal(code, 9);
    assert.match(message, /protection\.delete: protected\) \(req_/);
    server = await engine.update(server, { protection: { delete: false } });
  });

  it('a refresh finds changes outside of the program, and only in its own inputs', async () => {
    await account.api.patch(`/servers/${server.id}`, { labels: { by: 'hand' }, auto_renew: false });
    const refreshed = (await engine.refresh(server)) ?? assert.fail();
    assert.deepEqual(refreshed.inputs.labels, { by: 'hand' });
    assert.ok(!Object.hasOwn(refreshed.inputs, 'autoRenew'));
    assert.equal(refreshed.state.autoRenew, false);
    assert.equal(refreshed.inputs.image, 'debian-13');
    assert.deepEqual(refreshed.inputs.protection, { delete: false });
    assert.deepEqual(await engine.plan(refreshed, { labels: { env: 'test' } }), [['labels'], []]);
  });

  it('a server that is gone is reported as gone, and its deletion succeeds', async () => {
    const { id } = await account.create('/servers', {
      ...{ name: 'gone', plan: 's1', region: 'par', image: account.named['debian-13'], ssh_keys: [key.id] },
    });
    const stored = await engine.import('Server', 'gone', id);
    await account.api.call('DELETE', `/servers/${id}`, undefined, {});
    assert.equal(await engine.refresh(stored), null);
    await engine.delete(stored);
    await engine.delete(stored);
    assert.equal((await account.api.get(`/servers/${id}`)).status, 404);
  });

  it('an imported resource has the inputs that a program would set', async () => {
    const { inputs } = await engine.import('Server', 'web-1', account.named['web-1'] ?? '');
    assert.deepEqual(Object.keys(inputs).sort(), [
      ...['autoRenew', 'billingMonths', 'firewallGroups', 'image', 'labels', 'name', 'plan', 'protection'],
      ...['region', 'sshKeys', 'tags'],
    ]);
    const imported = await engine.import('FirewallGroup', 'web', account.named.web ?? '');
    const { note: _note, ...rule } = RULE;
    assert.deepEqual(imported.inputs, { name: 'web', defaultAction: 'drop', rules: [rule] });
  });

  it('an order above maxPriceUsd charges nothing', async () => {
    const before = (await live('/billing/balance')).usd;
    const { code, detail, message } = await errorOf(
      engine.create('Server', 'dear', { ...order, maxPriceUsd: 0.5 }),
    );
    assert.deepEqual([code, detail], [9, undefined]);
    assert.match(message, /price_changed/);
    assert.equal((await live('/billing/balance')).usd, before);
  });

  it('a server that fails after it is paid for is not lost', async () => {
    const news = { ...order, rdns: { ipv4: 'not a host name' } };
    const { detail, message } = await errorOf(engine.create('Server', 'half', news));
    assert.match(message, /ipv4: invalid_format/);
    assert.match(detail.id, /^srv_/);
    assert.deepEqual(detail.reasons, [message]);
    assert.equal(fromStruct(detail.properties).name, 'half');
    assert.equal((await live(`/servers/${detail.id}`)).name, 'half');
    // The next update of the program, with the mistake fixed, completes it.
    const state = fromStruct(detail.properties);
    const half = { urn: urnOf('Server', 'half'), id: detail.id, inputs: fromStruct(detail.inputs), state };
    const fixed = await engine.update(half, { rdns: { ipv4: 'half.example.org' } });
    assert.equal((await live(`/servers/${detail.id}`)).ipv4.rdns, 'half.example.org');
    assert.equal(fixed.state.status, 'running');
    // Also if its inputs are the same: they were never applied.
    const { rdns: _unset, ...rest } = plain(fixed.state);
    await account.api.post(`/servers/${detail.id}/rdns`, { ipv4: null });
    await engine.update({ ...fixed, state: rest }, {});
    assert.equal((await live(`/servers/${detail.id}`)).ipv4.rdns, 'half.example.org');
    const wrongly = await errorOf(engine.create('Server', 'never', { ...order, plan: 's99' }));
    assert.equal(wrongly.detail, undefined);
  });

  it('a volume is attached, grows, moves, and is deleted while it is attached', async () => {
    let volume = await engine.create('Volume', 'data-1', { sizeGb: 10, region: 'par', server: server.id });
    const found = async () => await live(`/volumes/${volume.id}`);
    assert.equal((await found()).attached_to, server.id);
    assert.match(String(volume.state.device), /^\/dev\//);
    const other = account.named['web-1'] ?? '';
    assert.deepEqual(await engine.plan(volume, { sizeGb: 20, server: other }), [['server', 'sizeGb'], []]);
    volume = await engine.update(volume, { sizeGb: 20, server: other, labels: { a: 'b' } });
    const { attached_to, size_gb, labels } = await found();
    assert.deepEqual([attached_to, size_gb, labels], [other, 20, { a: 'b' }]);
    assert.deepEqual(await engine.plan(volume, { encrypted: true }), [[], ['encrypted']]);
    volume = await engine.update(volume, { protection: { delete: true } });
    assert.equal((await errorOf(engine.delete(volume))).code, 9);
    assert.equal((await found()).attached_to, other, 'a protected volume stays attached');
    volume = await engine.update(volume, { protection: { delete: false } });
    await engine.delete(volume);
    assert.equal((await account.api.get(`/volumes/${volume.id}`)).status, 404);
  });

  it('a snapshot is ready, expires, and is deleted', async () => {
    const news = { server: server.id, expiresAt: '2030-01-01T00:00:00Z' };
    let snapshot = await engine.create('Snapshot', 'now', news);
    assert.deepEqual([snapshot.state.status, snapshot.state.name], ['ready', 'now']);
    const refreshed = (await engine.refresh(snapshot)) ?? assert.fail();
    assert.deepEqual(await engine.plan(refreshed, news), [[], []]);
    snapshot = await engine.update(snapshot, { expiresAt: null, labels: { a: 'b' } });
    assert.deepEqual((await live(`/snapshots/${snapshot.id}`)).expires_at, null);
    assert.deepEqual(await engine.plan(snapshot, { server: UNKNOWN }), [[], ['server']]);
    await engine.delete(snapshot);
    assert.equal(await engine.refresh(snapshot), null);
  });

  it('a firewall group changes its rules in place, and an SSH key is replaced', async () => {
    const rule = { direction: 'in', proto: 'udp', source: '::/0', action: 'reject', note: 'a note' };
    assert.deepEqual(await engine.plan(group, { rules: [rule], name: 'front' }), [['name', 'rules'], []]);
    group = await engine.update(group, { rules: [rule], name: 'front' });
    const { name, rules } = await live(`/firewall/groups/${group.id}`);
    assert.deepEqual([name, rules.length, rules[0].port], ['front', 1, null]);
    assert.deepEqual(await engine.plan(group, {}), [[], []]);
    assert.deepEqual((await engine.refresh(group))?.inputs, group.inputs);
    assert.deepEqual(await engine.plan(key, { publicKey: publicKey(8, 'x') }), [[], ['publicKey']]);
    assert.equal((await errorOf(engine.delete(group))).code, 9, 'it is applied to a server');
  });

  it('deletes everything, and waits until a server is gone', async () => {
    for (const one of [server, group, key]) await engine.delete(one);
    for (const one of [server, group, key]) assert.equal(await engine.refresh(one), null);
    assert.equal((await account.api.get(`/servers/${server.id}`)).status, 404);
  });

  it('Cancel ends a wait, and keeps the server', async () => {
    const canceled = await Engine.start();
    await canceled.configure({ apiUrl: account.world.url, token: account.token });
    const keys = [account.named.laptop ?? ''];
    const created = errorOf(canceled.create('Server', 'slow', { ...order, sshKeys: keys }));
    // The order has been placed once the server exists.
    for (let tries = 0; tries < 500; tries += 1) {
      if ((await live('/servers?filter[name]=slow')).data.length > 0) break;
    }
    await canceled.raw('Cancel');
    const { message, detail } = await created;
    assert.match(message, /^canceled; the operation may continue on the host$/);
    assert.match(detail.id, /^srv_/);
    await canceled.stop();
  });
});
