/** The life of a real server that a customer orders over the API, from the order to its removal. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REAL_MACHINES } from '../drivers/compute/qemu/support/qemu-world.ts';
import type { JsonBody } from '../support/v1-client.ts';
import { RealWorld } from './real-world.ts';
import { readScreen } from './screen.ts';

describe('a real server', REAL_MACHINES, () => {
  let world: RealWorld;
  let server: JsonBody;
  let image = '';
  let key = '';
  before(async () => {
    world = await RealWorld.open();
    [image, key] = [await world.imageId(), await world.addKey()];
  });
  after(() => world?.close());

  const order = async (name: string): Promise<JsonBody> => {
    const body = { name, plan: 's1', region: 'par', image, ssh_keys: [key] };
    const answer = await world.api.post('/servers', body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  };
  const four = () => server.ipv4.address as string;
  const six = () => server.ipv6.address as string;

  it('a new server accepts SSH by key over IPv4 and IPv6', async () => {
    const { id } = await order('web-1');
    server = await world.waitForStatus(id, 'running');
    assert.equal(await world.ssh(four(), 'hostname'), 'web-1');
    assert.equal(await world.ssh(six(), 'hostname'), 'web-1');
  });

  it('the firewall of a server accepts, rejects, and drops as its rules say', async () => {
    const rule = (source: string, action: string) => ({
      direction: 'in',
      proto: 'tcp',
      port: '22',
      source,
      action,
    });
    const rules = [
      rule('198.51.100.0/24', 'accept'),
      rule('203.0.113.0/24', 'reject'),
      rule('2001:db8:ffff::/48', 'accept'),
    ];
    const made = await world.api.post('/firewall/groups', {
      name: 'web',
      default_action: 'drop',
      rules,
      applied_to: [server.id],
    });
    assert.equal(made.status, 201, made.text);
    await world.net.addPeer('198.51.100.8');
    await world.net.addPeer('192.88.99.7');
    await world.eventually('the firewall rejects', async () =>
      world.ssh(four(), 'true', { from: '203.0.113.9' }).then(
        () => false,
        (error: Error) => /refused/.test(error.message),
      ),
    );
    assert.equal(await world.ssh(four(), 'hostname', { from: '198.51.100.8' }), 'web-1');
    assert.equal(await world.ssh(six(), 'hostname'), 'web-1');
    await assert.rejects(world.ssh(four(), 'true', { from: '192.88.99.7' }), /timed out/);
    const none = await world.api.patch(`/firewall/groups/${made.body.id}`, { applied_to: [] });
    assert.equal(none.status, 200);
    await world.eventually('the firewall is removed', () =>
      world.ssh(four(), 'hostname', { from: '192.88.99.7' }),
    );
  });

  it('a running server sees a volume attached, grown, and detached', async () => {
    const made = await world.api.post('/volumes', { name: 'data', size_gb: 10, region: 'par' });
    assert.equal(
      (await world.api.post(`/volumes/${made.body.id}/attach`, { server: server.id })).status,
      200,
    );
    const gib = (sectors: string) => Number(sectors) / 2 ** 21;
    const size = () => world.ssh(four(), 'cat /sys/block/vdb/size').then(gib);
    await world.eventually('vdb is attached', async () => (await size()) === 10);
    assert.equal((await world.api.patch(`/volumes/${made.body.id}`, { size_gb: 12 })).status, 200);
    await world.eventually('vdb has grown', async () => (await size()) === 12);
    assert.equal((await world.api.post(`/volumes/${made.body.id}/detach`)).status, 200);
    await world.eventually(
      'vdb is detached',
      async () => (await world.ssh(four(), 'ls /sys/block')).includes('vdb') === false,
    );
  });

  it('a restore brings back the data of the snapshot', async () => {
    await world.ssh(four(), 'echo before >/data/file; sync');
    const made = await world.api.post(`/servers/${server.id}/snapshots`, {});
    assert.equal(made.status, 201, made.text);
    await world.eventually('the snapshot is ready', async () => {
      const { body } = await world.api.get(`/snapshots/${made.body.id}`);
      assert.notEqual(body.status, 'error');
      return body.status === 'ready';
    });
    await world.ssh(four(), 'echo after >/data/file; sync');
    assert.equal(
      (await world.api.post(`/servers/${server.id}/restore`, { snapshot: made.body.id })).status,
      202,
    );
    await world.waitForStatus(server.id, 'running');
    assert.equal(await world.sshWithRetry(four(), 'cat /data/file'), 'before');
  });

  it('a rebuild empties the disk and keeps the addresses', async () => {
    assert.equal((await world.api.post(`/servers/${server.id}/rebuild`, {})).status, 202);
    const now = await world.waitForStatus(server.id, 'running');
    assert.deepEqual([now.ipv4, now.ipv6], [server.ipv4, server.ipv6]);
    assert.equal(await world.sshWithRetry(four(), 'ls /data/file 2>/dev/null || echo none'), 'none');
  });

  it('a rescue accepts its one-time password, has the disk of the server, and can be left', async () => {
    await world.ssh(four(), 'echo mine >/data/file; sync');
    const { status, body } = await world.api.post(`/servers/${server.id}/rescue`);
    assert.equal(status, 202);
    const looked = await world.sshByPassword(
      four(),
      body.rescue.password,
      'mkdir -p /mnt/d; mount -o ro /dev/vdb2 /mnt/d && cat /mnt/d/file',
    );
    assert.equal(looked, 'mine');
    assert.equal((await world.api.post(`/servers/${server.id}/reboot?hard=true`)).status, 202);
    assert.equal(await world.sshWithRetry(four(), 'cat /data/file'), 'mine');
  });

  it('the console shows the server’s screen', async () => {
    const { body } = await world.api.get(`/servers/${server.id}/console`);
    const path = new URL(body.url).searchParams.get('path');
    const screen = await world.eventually('a picture', async () => {
      const picture = await readScreen(`${world.url.replace('http', 'ws')}/${path}`);
      return picture.colors > 1 && picture;
    });
    assert.ok(screen.width >= 640 && screen.height >= 400, `${screen.width} × ${screen.height}`);
  });

  it('servers survive a killed service, and the next process finishes its operations', async () => {
    const bootId = () => world.sshWithRetry(four(), 'cat /proc/sys/kernel/random/boot_id');
    const booted = await bootId();
    const second = await order('web-2');
    await world.kill();
    assert.equal(await bootId(), booted);
    await world.start();
    const two = await world.waitForStatus(second.id, 'running');
    assert.equal(await world.sshWithRetry(two.ipv4.address, 'hostname'), 'web-2');
    assert.equal((await world.api.post(`/servers/${second.id}/rebuild`, {})).status, 202);
    await world.eventually('the rebuild has started', async () => {
      const { body } = await world.api.get(`/servers/${second.id}`);
      return body.status === 'installing';
    });
    await world.kill();
    await world.start();
    await world.waitForStatus(second.id, 'running');
    assert.equal(await world.sshWithRetry(two.ipv4.address, 'hostname'), 'web-2');
    assert.equal(await bootId(), booted);
    assert.match(await world.operator('verify'), /\S/);
  });

  it('a destroyed server leaves no process, disk, or route', async () => {
    const { body } = await world.api.get('/servers');
    for (const { id } of body.data) assert.equal((await world.api.delete(`/servers/${id}`)).status, 202);
    await world.eventually(
      'both are deleted',
      async () => (await world.api.get('/servers')).body.data.length === 0,
    );
    assert.equal((await world.net.runInRouter('ip', ['-o', 'link', 'show', 'type', 'tun'])).trim(), '');
    await assert.rejects(world.ssh(four(), 'true'));
  });
});
