/** A host is emptied while a customer uses their server: three processes, real guests, and kills. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { EchoConnection } from '../drivers/compute/qemu/support/guest-traffic.ts';
import { REAL_MACHINES } from '../drivers/compute/qemu/support/qemu-world.ts';
import { rotate } from '../support/runs.ts';
import { runSkerryd } from '../support/skerryd-process.ts';
import type { JsonBody } from '../support/v1-client.ts';
import { type FleetHost, FleetWorld } from './fleet-world.ts';
import { type RealWorld, SSH_ARGS } from './real-world.ts';

/** The process that is killed in the middle of a move. */
const VICTIMS = ['source', 'target', 'service'] as const;

describe('draining a host', REAL_MACHINES, () => {
  let fleet: FleetWorld;
  let world: RealWorld;
  let server: JsonBody;
  let echo: EchoConnection;
  /** Where the server is, and the other host. */
  let here: FleetHost;
  let there: FleetHost;

  before(async () => {
    fleet = await FleetWorld.open();
    world = fleet.world;
    here = await fleet.addHost('vm-2');
    await world.eventually('the images arrive', async () =>
      (await world.operator('hosts', 'show', here.name)).includes('2 of 2'),
    );
  });
  after(async () => {
    echo?.close();
    await fleet?.close();
  });
  let hasFailed = false;
  beforeEach(() => assert.ok(!hasFailed, 'an earlier test failed'));
  afterEach((t) => {
    hasFailed ||= !(t as unknown as { readonly passed: boolean }).passed;
  });

  const four = () => server.ipv4.address as string;

  async function contents(host: FleetHost): Promise<string> {
    return /^contents +(.*)$/m.exec(await world.operator('hosts', 'show', host.name))?.[1] ?? '';
  }

  /** The server is on the other host now, and its customer has noticed nothing. */
  async function expectMoved(): Promise<void> {
    [here, there] = [there, here];
    assert.equal(await contents(here), '1 server');
    assert.equal(await contents(there), 'nothing');
    assert.ok(await echo.exchange(), 'the connection broke');
    assert.equal((await world.api.get(`/servers/${server.id}`)).body.status, 'running');
    assert.equal(await world.sshWithRetry(four(), 'cat /data/file'), 'mine');
  }

  it('a server starts on a host of its own process', async () => {
    const body = { name: 'web-1', plan: 's1', region: 'par', image: await world.imageId() };
    const ordered = await world.api.post('/servers', { ...body, ssh_keys: [await world.addKey()] });
    assert.equal(ordered.status, 201, ordered.text);
    server = await world.waitForStatus(ordered.body.id, 'running');
    assert.equal(await world.sshWithRetry(four(), 'hostname; echo mine >/data/file; sync'), 'web-1');
    assert.equal(await contents(here), '1 server');
    echo = new EchoConnection(world.net.outside, [
      ...SSH_ARGS,
      ...['-i', world.keyFile, '-b', '198.51.100.7', `root@${four()}`],
    ]);
    assert.ok(await echo.exchange());
  });

  it('hosts drain --move empties the host while its server runs', async () => {
    there = await fleet.addHost('vm-3');
    const seen = new Set<string>();
    const watch = setInterval(async () => {
      const { body } = await world.api.get(`/servers/${server.id}`);
      seen.add(body.status);
    }, 500);
    const printed = await world
      .operator('hosts', 'drain', here.name, '--move')
      .finally(() => clearInterval(watch));
    assert.match(printed, new RegExp(`^host ${here.name} is empty$`, 'm'));
    assert.deepEqual([...seen], ['running']);
    await expectMoved();
  });

  it('hosts doctor boots a server on a host of its own process', async () => {
    const { stdout } = await runSkerryd(['hosts', 'doctor', here.name], world.env);
    for (const found of ['kernel: ', 'accelerator: tcg ran code', 'boot of [0-9a-f]{12}: SSH answered after'])
      assert.match(stdout, new RegExp(`^OK +${here.name} +${found}`, 'm'), stdout);
  });

  for (const victim of rotate(VICTIMS, { sample: 1, full: 3, soak: 1 })) {
    it(`the ${victim} is killed in the middle of a move, which is completed later`, async () => {
      await world.operator('hosts', 'undrain', there.name);
      await world.operator('hosts', 'drain', here.name, '--move', '--no-wait');
      const moves = () => world.operator('hosts', 'moves');
      await world.eventually('the move begins', async () => /copying/.test(await moves()));
      if (victim === 'service') {
        await world.kill();
        await world.start();
      } else {
        const host = victim === 'source' ? here : there;
        await host.stop('SIGKILL');
        assert.ok(await echo.exchange(), 'the guest depends on the process of its host');
        await host.start();
      }
      await world.eventually('the move ends', async () => assert.doesNotMatch(await moves(), /^srv_/m));
      await expectMoved();
    });
  }
});
