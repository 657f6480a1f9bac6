import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { serverObject } from '../../../../src/domain/servers/object.ts';
import type { MachineSpec } from '../../../../src/ports/compute.ts';
import { R1, S1 } from '../../../support/fixtures.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../region-world.ts';

let region: RegionWorld;
let world: TestService;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(() => region.reset());

describe('provisioning', () => {
  it('an ordered server is provisioning, then installing, then running with its addresses', async (t) => {
    const looks = t.mock.method(world.service.compute, 'observe').mock;
    const id = await region.order();
    assert.equal((await region.server(id)).status, 'provisioning');
    await region.runDueWork();
    assert.equal(looks.callCount(), 1, 'it looks at once');
    assert.equal((await region.server(id)).status, 'installing');
    assert.equal(serverObject(await region.server(id)).ipv4, null);
    await world.runUntilIdle();
    const server = serverObject(await region.server(id));
    assert.equal(server.status, 'running');
    assert.match(server.ipv4?.address ?? '', /^10\.\d+\.0\.\d+$/);
    assert.match(server.ipv4?.gateway ?? '', /^10\.\d+\.0\.1$/);
    assert.match(server.ipv6?.prefix ?? '', /^2001:db8:[0-9a-f:]+::\/64$/);
    assert.equal(server.ipv6?.address, server.ipv6?.prefix.replace('/64', '1'));
    await world.assertInvariants();
  });

  it('a server that is ordered stopped is stopped, also on a host that powers it on', async (t) => {
    const { compute } = world.service;
    const ensure = compute.ensure.bind(compute);
    for (const isEarlierHost of [false, true]) {
      t.mock.method(compute, 'ensure', async (spec: MachineSpec) => {
        await ensure(spec);
        if (isEarlierHost) await compute.power(spec.id, 'on');
      });
      const id = await region.order({ start: false });
      await world.runUntilIdle();
      const server = serverObject(await region.server(id));
      assert.equal(server.status, 'stopped');
      assert.notEqual(server.ipv4, null);
      assert.equal((await region.machine(id))?.state, 'stopped');
    }
    assert.ok(!(await region.events()).includes('server.running'));
    await world.assertInvariants();
  });

  it('an ordered server is a machine on the host that reserved it, with the promised resources', async () => {
    const id = await region.order({ name: 'mail-2' });
    await world.runUntilIdle();
    const [server, machine] = [await region.server(id), await region.machine(id)];
    assert.ok(machine);
    assert.deepEqual(await region.usedHosts(), { [machine.host]: 1 });
    assert.equal(machine.state, 'running');
    assert.deepEqual([machine.ramMb, machine.diskGb], [S1.ram_mb, S1.disk_gb]);
    assert.deepEqual(machine.installed, {
      hostname: 'mail-2',
      image: { id: server.image_id, family: 'debian', version: '13', cloudInit: true, iso: null, base: null },
      ipv4: { address: server.ipv4, gateway: server.ipv4_gateway },
      ipv6: { address: server.ipv6_prefix?.replace('/64', '1'), prefix: server.ipv6_prefix },
      sshKeys: [],
      rootPasswordHashSha256: null,
      userDataSha256: null,
    });
  });

  it('an ordered server has events and audit rows for its creation, charge, and first run', async () => {
    const id = await region.order();
    await world.runUntilIdle();
    assert.deepEqual(await region.events(), ['server.created', 'billing.charged', 'server.running']);
    assert.deepEqual(await region.auditedActions(), ['server.create ok', 'server.run ok']);
    const event = await world.db.row<{ data: object }>(
      `select data from events where customer_id = $1 and type = 'server.running'`,
      [region.customerId],
    );
    assert.deepEqual(event?.data, { server: serverObject(await region.server(id)) });
  });

  it('an ordered server passes its secrets to the install and deletes them afterwards', async () => {
    const id = await region.order({
      rootPasswordHash: '$6$salt$hash',
      userData: Buffer.from('#cloud-config\n'),
    });
    const secrets = () =>
      world.db.row(
        'select root_password_sealed as root, user_data_sealed as data from servers where id = $1',
        [id],
      );
    await region.runDueWork();
    assert.ok(Object.values((await secrets()) ?? {}).every((sealed) => sealed !== null));
    await world.runUntilIdle();
    assert.deepEqual(await secrets(), { root: null, data: null });
    const installed = (await region.machine(id))?.installed;
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    assert.equal(installed?.rootPasswordHashSha256, sha256('$6$salt$hash'));
    assert.equal(installed?.userDataSha256, sha256('#cloud-config\n'));
  });

  it('an ordered dedicated server runs on its own machine', async () => {
    const [name] = await world.fixtures.addMachines(1, R1, region.regionId);
    const id = await region.order({ plan: R1 });
    await world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
    assert.equal((await region.machine(id))?.host, name);
    assert.deepEqual(await region.usedHosts(), {});
    await world.assertInvariants();
  });
});
