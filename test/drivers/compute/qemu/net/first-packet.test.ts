/** The filter of a new machine is in force before the first packet reaches its guest. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Filter } from '../../../../../src/ports/network.ts';
import { byLevel } from '../../../../support/runs.ts';
import { ContractFixture } from '../../compute-world.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../support/qemu-world.ts';

const BOOTS = byLevel({ sample: 1, full: 1, soak: 20 });
const CLOSED: Filter = { rules: [], defaultIn: 'drop', defaultOut: 'accept' };
const SCAN_MAX_S = 120;
const SCAN_INTERVAL_S = 0.005;
const SCANNERS = { 4: '198.51.100.7', 6: '2001:db8:ffff::9' } as const;

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

describe('the first packet', REAL_MACHINES, () => {
  let world: QemuWorld;
  const bench = new ContractFixture();
  before(async () => {
    world = await qemuWorld();
    await bench.open(async () => world);
  });
  after(() => bench.close());

  /** Boots a machine while it is scanned. Returns how many packets were sent to it, and reached it. */
  async function scanBoot(t: TestContext, filter: Filter | null) {
    const spec = bench.spec({ id: bench.newMachineId(t), filter });
    const addresses = [spec.ipv4.address, spec.ipv6.address] as const;
    const counters = await countPackets(addresses, world.host.tap(spec.id));
    const scans = [ping(addresses[0], 4), ping(addresses[1], 6)];
    try {
      await world.driver.ensure(spec);
      await bench.waitForState(spec.id, 'running');
      return { sent: await counters.read('sent'), reached: await counters.read('reached') };
    } finally {
      await Promise.all(scans.map(end));
      await counters.remove();
      await world.driver.remove(spec.id);
    }
  }

  function ping(address: string, family: 4 | 6): ChildProcess {
    // Not ping's own deadline, which ends it at the first error, as before the machine exists.
    const program = ['timeout', String(SCAN_MAX_S), 'ping', `-${family}`, '-q', '-n'];
    const how = ['-i', String(SCAN_INTERVAL_S), '-I', SCANNERS[family], address];
    const words = ['netns', 'exec', world.net.outside, ...program, ...how];
    return spawn('ip', words, { stdio: 'ignore' });
  }

  /** Counts before any filter, and behind all of them. */
  async function countPackets(addresses: readonly [string, string], tap: string) {
    const name = `scan_${tap.replaceAll(/\W/g, '_')}`;
    const [ipv4, ipv6] = addresses;
    const counted = (at: string, counter: string) =>
      [`ip daddr ${ipv4} icmp type echo-request`, `ip6 daddr ${ipv6} icmpv6 type echo-request`]
        .map((match) => `${at}${match} counter name ${counter}`)
        .join('\n');
    const rules = `add table inet ${name}
add counter inet ${name} sent
add counter inet ${name} reached
table inet ${name} {
  chain before {
    type filter hook prerouting priority -400
    ${counted('', 'sent')}
  }
  chain behind {
    type filter hook postrouting priority 400
    ${counted(`oifname "${tap}" `, 'reached')}
  }
}`;
    await world.net.runInRouter('nft', ['-f', '-'], { input: rules });
    return {
      async read(counter: 'sent' | 'reached'): Promise<number> {
        const text = await world.net.runInRouter('nft', ['list', 'counter', 'inet', name, counter]);
        return Number(/packets (\d+)/.exec(text)?.[1] ?? assert.fail(text));
      },
      remove: () => world.net.runInRouter('nft', ['delete', 'table', 'inet', name]),
    };
  }

  it('without a filter, the scan reaches the guest', async (t) => {
    const { reached } = await scanBoot(t, null);
    assert.ok(reached > 0);
  });

  for (let boot = 1; boot <= BOOTS; boot++) {
    it(`with a filter, no packet of the scan reaches the guest (boot ${boot})`, async (t) => {
      const { sent, reached } = await scanBoot(t, CLOSED);
      t.diagnostic(`${sent} packets sent, ${reached} reached the guest`);
      assert.ok(sent > 100, `only ${sent} packets were sent`);
      assert.equal(reached, 0);
    });
  }
});
