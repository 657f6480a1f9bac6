import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REAL_MACHINES } from '../drivers/compute/qemu/support/qemu-world.ts';
import { runSkerryd } from '../support/skerryd-process.ts';
import { RealWorld } from './real-world.ts';

describe('skerryd doctor', REAL_MACHINES, () => {
  let world: RealWorld;
  before(async () => {
    world = await RealWorld.open();
  });
  after(() => world?.close());

  it('doctor boots a server on a complete host, reports it as OK, and leaves nothing behind', async () => {
    const said = await world.operator('doctor');
    for (const line of [
      /^OK +database +connected$/m,
      /^OK +inventory +this machine is vm-1$/m,
      /^NOTE +images +not imported, so unavailable to customers: .*debian-13/m,
      /^OK +programs /m,
      /^OK +kernel /m,
      /^OK +forwarding /m,
      /^OK +accelerator +tcg ran code after \d+ ms$/m,
      /^OK +boot of [0-9a-f]{12} +SSH answered after \d+ s$/m,
    ]) {
      assert.match(said, line);
    }
    assert.doesNotMatch(said, /^(?:WARN|FAIL) /m);
    assert.doesNotMatch(await world.operator('status'), /unknown/);
  });

  it('doctor lists what blocks first, tells how to fix it, and exits 1', async () => {
    const wrong = { SKERRY_QEMU_HOSTS: 'vm-2', SKERRY_QEMU_NETNS: world.net.outside };
    const { code, stdout } = await runSkerryd(['doctor'], { ...world.env, ...wrong });
    assert.equal(code, 1);
    assert.match(stdout, /^FAIL +inventory +this machine, vm-2, is not registered: skerryd hosts add vm-2 /m);
    assert.match(stdout, /^FAIL +inventory +host vm-1 is not in SKERRY_QEMU_HOSTS/m);
    assert.match(stdout, /^FAIL +forwarding +forwarding is off: add net.ipv4.ip_forward=1 /m);
    assert.match(stdout, /^NOTE +boot +skipped/m);
    const levels = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0] ?? '');
    const order = ['FAIL', 'WARN', 'NOTE', 'OK'];
    assert.deepEqual(
      levels,
      levels.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
    );
  });
});
