import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REAL_MACHINES } from '../drivers/qemu/qemu-world.ts';
import { runSkerryd } from '../support/skerryd-process.ts';
import { RealWorld } from './real-world.ts';

describe('skerryd doctor', REAL_MACHINES, () => {
  let world: RealWorld;
  before(async () => {
    world = await RealWorld.open();
  });
  after(() => world?.close());

  it('proves a machine that has everything by booting it, and leaves nothing behind', async () => {
    const said = await world.operator('doctor');
    for (const line of [
      /^ok +database +answers$/m,
      /^ok +inventory +this machine is vm-1$/m,
      /^note +images +not imported, so not offered: .*debian-13/m,
      /^ok +programs /m,
      /^ok +kernel /m,
      /^ok +forwarding /m,
      /^ok +accelerator +tcg runs code after \d+ ms$/m,
      /^ok +boot of [0-9a-f]{12} +SSH answers after \d+ s$/m,
    ]) {
      assert.match(said, line);
    }
    assert.doesNotMatch(said, /LOOK/);
    assert.doesNotMatch(await world.operator('status'), /unknown/);
  });

  it('says in words what is wrong, and ends with 1', async () => {
    const wrong = { SKERRY_QEMU_HOSTS: 'vm-2', SKERRY_QEMU_NETNS: world.net.outside };
    const { code, stdout } = await runSkerryd(['doctor'], { ...world.env, ...wrong });
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^LOOK +inventory +this machine, vm-2, is in no region yet: skerryd hosts add vm-2 /m,
    );
    assert.match(stdout, /^LOOK +inventory +host vm-1 is not among SKERRY_QEMU_HOSTS/m);
    assert.match(stdout, /^LOOK +forwarding +this machine does not forward: put net.ipv4.ip_forward=1 /m);
    assert.match(stdout, /^note +boot +not tried/m);
  });
});
