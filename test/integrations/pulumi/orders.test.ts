/** The Pulumi provider: options of an order, backups, resizes, and alerts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fromStruct, plain, UNKNOWN, type Values } from '../../../integrations/pulumi/src/rpc/values.ts';
import {
  createExampleAccount,
  type ExampleAccount,
  startExampleWorld,
} from '../../cli/support/example-account.ts';
import { Engine, errorOf, type Stored, urnOf } from './support/engine.ts';

describe('orders, backups, resizes, and alerts of the Pulumi provider', () => {
  let account: ExampleAccount;
  let engine: Engine;
  let server: Stored;
  let order: Values;

  before(async () => {
    account = await createExampleAccount(await startExampleWorld());
    engine = await Engine.start();
    await engine.configure({ apiUrl: account.world.url, token: account.token });
    order = { plan: 's1', region: 'par', image: 'debian-13', sshKeys: [account.named.laptop ?? ''] };
  });
  after(async () => {
    await engine.stop();
    await account.world.close();
  });

  const live = async (path: string) => (await account.api.get(path)).body;
  const policy = async () => {
    const { enabled, every, weekday, hour_utc, keep } = await live(`/servers/${server.id}/backup-policy`);
    return [enabled, every, weekday, hour_utc, keep];
  };
  const refresh = async (stored: Stored) => (await engine.refresh(stored)) ?? assert.fail();

  it('a new server with start=false is not powered on, and has its volumes and backups', async () => {
    const volume = await engine.create('Volume', 'logs', { sizeGb: 10, region: 'par' });
    const backups = { enabled: true, every: 'week', weekday: 'sunday', hourUtc: 3 };
    const own = { start: false, volumes: [volume.id], backups, rdns: { ipv4: 'app.example.org' } };
    server = await engine.create('Server', 'app-1', { ...order, ...own });
    const found = await live(`/servers/${server.id}`);
    assert.deepEqual([found.status, found.ipv4.rdns], ['stopped', 'app.example.org']);
    assert.equal(server.state.status, 'stopped');
    assert.equal((await live(`/volumes/${volume.id}`)).attached_to, server.id);
    assert.deepEqual(await policy(), [true, 'week', 'sunday', 3, 7]);
    assert.deepEqual(server.state.backups, { ...backups, keep: 7 });
    server = await refresh(server);
    assert.deepEqual(server.inputs.backups, backups);
    assert.deepEqual([server.inputs.start, server.inputs.volumes], [false, [volume.id]]);
    assert.deepEqual(await engine.plan(server, {}), [[], []]);
    // They count only for the order.
    assert.deepEqual(await engine.plan(server, { start: true, volumes: [] }), [[], []]);
    assert.deepEqual((await refresh(volume)).inputs, volume.inputs);
  });

  it('backups change in place, and members that are omitted stay', async () => {
    const daily = { enabled: true, every: 'day', keep: 3 };
    assert.deepEqual(await engine.plan(server, { backups: daily }), [['backups'], []]);
    server = await engine.update(server, { backups: daily });
    assert.deepEqual(await policy(), [true, 'day', null, 3, 3]);
    assert.deepEqual(await engine.plan(server, {}), [[], []]);
    const byHand = { enabled: false, every: 'day', hour_utc: 5, keep: 3 };
    await account.api.call('PUT', `/servers/${server.id}/backup-policy`, byHand, {});
    server = await refresh(server);
    assert.deepEqual(server.inputs.backups, { ...daily, enabled: false });
    server = await engine.update(server, { backups: daily });
    assert.deepEqual(await policy(), [true, 'day', null, 5, 3]);
    const imported = await engine.import('Server', 'app-1', server.id);
    assert.deepEqual(imported.inputs.backups, { ...daily, weekday: null, hourUtc: 5 });
  });

  it('a server whose program omits backups keeps its own', async () => {
    const { backups: _backups, ...rest } = plain(server.inputs);
    const { backups: _old, ...state } = server.state;
    const without = { ...server, inputs: rest, state };
    await engine.update(without, { labels: { a: 'b' } });
    assert.deepEqual(await policy(), [true, 'day', null, 5, 3]);
    assert.equal((await refresh(without)).state.backups, null);
    assert.ok(!Object.hasOwn((await refresh(without)).inputs, 'backups'));
  });

  it('backups must say whether they are enabled', async () => {
    const failures = async (backups: Values | string) =>
      await engine.failures(urnOf('Server', 'x'), { ...order, backups });
    const [failure] = await failures({ every: 'day' });
    assert.deepEqual([failure.property, failure.reason], ['backups.enabled', 'a value is required']);
    for (const backups of [{ enabled: UNKNOWN }, UNKNOWN]) assert.deepEqual(await failures(backups), []);
  });

  it('another plan replaces a server, or with allowRestart resizes it', async () => {
    assert.deepEqual(await engine.plan(server, { plan: 's2' }), [[], ['plan']]);
    const wanted = { plan: 's2', allowRestart: true };
    assert.deepEqual(await engine.plan(server, wanted), [['plan'], []]);
    assert.deepEqual(await engine.plan(server, { ...wanted, region: 'x' }), [['plan'], ['region']]);
    const { detailedDiff } = await engine.diff(server, wanted);
    assert.equal(detailedDiff.plan.kind, 'UPDATE');
    const { message } = await errorOf(engine.update(server, { ...wanted, maxPriceUsd: 0.01 }));
    assert.match(message, /price_changed/);
    assert.equal((await live(`/servers/${server.id}`)).plan, 's1');
    const ready = await engine.update(server, wanted);
    assert.deepEqual([ready.state.plan, ready.state.status], ['s2', 'stopped']);
    // An update that did not hear of the end of its resize does not resize again.
    server = await engine.update(server, wanted);
    const { data } = await live(`/servers/${server.id}/actions`);
    const commands = data.map(({ command }: { command: string }) => command);
    assert.equal(commands.filter((one: string) => one === 'server.resize').length, 1);
    assert.deepEqual(await engine.plan(await refresh(server), {}), [[], []]);
  });

  it('a resize restarts a running server, and a refused one changes nothing', async () => {
    await account.api.post(`/servers/${server.id}/start`, {});
    await account.world.settle();
    server = await engine.update(await refresh(server), { plan: 's1' });
    assert.deepEqual([server.state.plan, server.state.status], ['s1', 'running']);
    const { code, message } = await errorOf(engine.update(server, { plan: 'd9' }));
    assert.deepEqual([code, /^.*plan/.test(message)], [3, true]);
    assert.equal((await live(`/servers/${server.id}`)).plan, 's1');
  });

  it('a snapshot is the image of a new server, and a refresh keeps it', async () => {
    const snapshot = await engine.create('Snapshot', 'golden', { server: server.id });
    const wanted = { ...order, image: snapshot.id };
    const copy = await engine.create('Server', 'copy', wanted);
    const { image } = await live(`/servers/${copy.id}`);
    assert.match(image, /^img_/);
    assert.deepEqual([copy.state.image, copy.state.imageId], [snapshot.id, image]);
    const refreshed = await refresh(copy);
    assert.equal(refreshed.inputs.image, snapshot.id);
    assert.deepEqual(await engine.plan(refreshed, {}), [[], []]);
    assert.deepEqual(await engine.plan(refreshed, { image: 'debian-13' }), [[], ['image']]);
    const half = await errorOf(
      engine.create('Server', 'half', { ...wanted, rdns: { ipv4: 'no host name' } }),
    );
    const state = fromStruct(half.detail.properties);
    const stored = {
      urn: urnOf('Server', 'half'),
      id: half.detail.id,
      inputs: fromStruct(half.detail.inputs),
      state,
    };
    assert.deepEqual(await engine.plan(await refresh(stored), {}), [[], []]);
  });

  it('an alert is created, changes in place, is imported, and is deleted', async () => {
    const condition = { metric: 'cpu_pct', value: 90.5, labelSelector: 'team=web, env==prod' };
    let alert = await engine.create('Alert', 'busy-web', {
      metric: 'cpu_pct',
      value: 90.5,
      servers: [server.id],
    });
    const found = async () => await live(`/alerts/${alert.id}`);
    assert.deepEqual(
      [(await found()).name, (await found()).servers, alert.state.window, alert.state.compare],
      ['busy-web', [server.id], '5m', 'gt'],
    );
    assert.deepEqual((await refresh(alert)).inputs, alert.inputs);
    assert.deepEqual(await engine.plan(alert, { window: '10m', enabled: false }), [
      ['enabled', 'window'],
      [],
    ]);
    alert = await engine.update(alert, { window: '10m', enabled: false });
    assert.deepEqual([(await found()).window, (await found()).enabled], ['10m', false]);
    // The value is the same number, but in another unit.
    alert = await engine.update(alert, { metric: 'net_out_bps' });
    assert.deepEqual([(await found()).metric, (await found()).value], ['net_out_bps', 90.5]);
    const { inputs } = await engine.import('Alert', 'busy-web', alert.id);
    assert.deepEqual(inputs, { ...alert.inputs, compare: 'gt' });
    await account.api.patch(`/alerts/${alert.id}`, { label_selector: 'a=b' });
    alert = await refresh(alert);
    assert.deepEqual(await engine.plan(alert, { servers: [server.id] }), [['servers'], []]);
    const { servers: _cleared, ...rest } = plain(alert.inputs);
    alert = await engine.update({ ...alert, inputs: rest }, { labelSelector: 'env=ci' });
    assert.deepEqual([(await found()).servers, (await found()).label_selector], [null, 'env=ci']);
    await engine.delete(alert);
    await engine.delete(alert);
    assert.equal(await engine.refresh(alert), null);
    const selected = await engine.create('Alert', 'selected', condition);
    assert.equal((await live(`/alerts/${selected.id}`)).label_selector, 'env=prod,team=web');
    assert.deepEqual((await refresh(selected)).inputs, selected.inputs);
  });

  it('an alert watches either servers or labels', async () => {
    const failures = async (news: Values) =>
      await engine.failures(urnOf('Alert', 'x'), { metric: 'unreachable', ...news });
    assert.equal((await failures({}))[0].reason, 'set servers or labelSelector');
    const both = { servers: UNKNOWN, labelSelector: '' };
    assert.equal((await failures(both))[0].reason, 'set only one of servers and labelSelector');
    assert.deepEqual(await failures({ servers: [UNKNOWN] }), []);
    const all = await engine.create('Alert', 'down', { metric: 'unreachable', labelSelector: '' });
    assert.deepEqual([all.state.value, all.state.labelSelector], [null, '']);
    assert.deepEqual((await refresh(all)).inputs, all.inputs);
  });
});
