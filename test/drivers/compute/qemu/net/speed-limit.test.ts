import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { probeSsh } from '../../../../../src/drivers/compute/qemu/machine/install-done.ts';
import { setFilter, setTraffic } from '../../../../../src/drivers/compute/qemu/net/network.ts';
import { type Guest, NET_SKIP, NetWorld } from '../support/net-world.ts';

const OUTSIDE = { ipv4: '192.0.2.2', ipv6: '2001:db8:ffff::2' };
const MEGABIT = 1_000_000;
/** Duration of a transfer at the expected speed. */
const SECONDS = 2;

/** Here a real network stack answers at both ends, since limits show only on real connections. */
describe('the link of a guest with a network stack', { skip: NET_SKIP }, () => {
  let world: NetWorld;
  let guest: Guest;
  let home = '';
  before(async () => {
    world = await NetWorld.create();
    guest = world.guest();
    home = `${world.ends}-1`;
    await run('ip', ['netns', 'add', home]);
    const ip = (netns: string, lines: readonly string[]) =>
      run('ip', ['-netns', netns, '-batch', '-'], { input: `${lines.join('\n')}\n` });
    await ip(world.ends, [
      `link set end1 netns ${home}`,
      ...endpointCommands('outside', OUTSIDE, '192.0.2.1', '2001:db8:ffff::1'),
    ]);
    await ip(home, endpointCommands('end1', guest, '198.51.100.1', 'fe80::1'));
  });
  after(async () => {
    await world.close();
    await run('ip', ['netns', 'delete', home]);
  });

  async function mbits(ends: readonly [from: string, to: string], address: string, expected: number) {
    const bytes = (expected * MEGABIT * SECONDS) / 8;
    const words = [join(import.meta.dirname, '../support/transfer.py'), ...ends, address, String(bytes)];
    return Number(await run('python3', words)) / MEGABIT;
  }
  const received = (expected: number, address = guest.ipv4) => mbits([world.ends, home], address, expected);
  const sent = (expected: number, address = OUTSIDE.ipv4) => mbits([home, world.ends], address, expected);
  const limit = (bitsPerS: number | null) => setTraffic(world.host, guest.id, { bitsPerS, mail: false });
  function near(measured: number, wanted: number): void {
    const percent = Math.round((measured / wanted) * 100);
    assert.ok(percent >= 80 && percent <= 120, `${measured.toFixed(2)} of ${wanted} Mbit/s`);
  }

  it('both directions are limited, in both address families', async () => {
    for (const wanted of [8, 25]) {
      await limit(wanted * MEGABIT);
      near(await received(wanted), wanted);
      near(await sent(wanted), wanted);
    }
    near(await received(25, guest.ipv6), 25);
    near(await sent(25, OUTSIDE.ipv6), 25);
  });

  it('a limit survives plugging the machine again, and removing it restores full speed', async () => {
    await limit(10 * MEGABIT);
    await world.plug(guest);
    near(await sent(10), 10);
    await limit(null);
    await world.plug(guest);
    for (const measured of [await received(60), await sent(60)])
      assert.ok(measured > 50, `${measured} Mbit/s`);
  });

  it('the SSH probe quickly notices a guest that starts to listen after lost packets', async () => {
    const { host } = world;
    const nft = async (...words: string[]) =>
      await run('nsenter', [`--net=/run/netns/${home}`, 'nft', ...words]);
    const lost = async () =>
      Number(/packets (\d+)/.exec(await nft('list', 'table', 'inet', 'deaf'))?.[1] ?? 0);
    await nft('add', 'table', 'inet', 'deaf');
    await nft('add', 'chain', 'inet', 'deaf', 'in', '{ type filter hook input priority 0; }');
    await nft('add', 'rule', 'inet', 'deaf', 'in', 'tcp', 'dport', '22', 'counter', 'drop');
    const said = await greeted('SSH-2.0-any', async () => {
      let isOver = false;
      const knocking = probeSsh(host, guest.ipv4).finally(() => {
        isOver = true;
      });
      // On its own, the kernel would retry only once during the probe.
      while (!isOver && (await lost()) < 3) await pause(10);
      await nft('delete', 'table', 'inet', 'deaf');
      return await knocking;
    });
    assert.equal(said, 'ssh');
  });

  it('the SSH probe tells whether an SSH server answers, regardless of the filter', async () => {
    const { host } = world;
    await setFilter(host, guest.id, { rules: [], defaultIn: 'drop', defaultOut: 'drop' });
    for (const address of [guest.ipv4, guest.ipv6]) {
      assert.equal(await probeSsh(host, address), 'refused');
      assert.equal(await greeted('SSH-2.0-any', () => probeSsh(host, address)), 'ssh');
      assert.equal(await greeted('220 mail', () => probeSsh(host, address)), 'refused');
    }
    await run('ip', ['-netns', home, 'link', 'set', 'end1', 'down']);
    assert.equal(await probeSsh(host, guest.ipv4), 'silent');
  });

  /** Runs the work while the guest greets each client on port 22 with these words. */
  async function greeted<T>(words: string, work: () => Promise<T>): Promise<T> {
    const program = `
import socket, sys
listener = socket.create_server(("::", 22), family=socket.AF_INET6, dualstack_ipv6=True)
print("ready", flush=True)
socket_of_one, _ = listener.accept()
socket_of_one.sendall(b"${words}\\r\\n")
sys.stdin.read()`;
    const guestProgram = spawn('nsenter', [`--net=/run/netns/${home}`, 'python3', '-c', program]);
    const ended = once(guestProgram, 'exit');
    guestProgram.stderr.pipe(process.stderr);
    await once(guestProgram.stdout, 'data');
    try {
      return await work();
    } finally {
      // There may have been no client.
      guestProgram.kill('SIGKILL');
      await ended;
    }
  }
});

function endpointCommands(
  end: string,
  { ipv4, ipv6 }: { readonly ipv4: string; readonly ipv6: string },
  gateway: string,
  gateway6: string,
): string[] {
  return [
    'link set lo up',
    `link set ${end} addrgenmode eui64`,
    `link set ${end} arp on down`,
    `link set ${end} up`,
    `addr add ${ipv4}/32 dev ${end}`,
    `addr add ${ipv6}/128 dev ${end} nodad`,
    `route add default via ${gateway} dev ${end} onlink`,
    `route add default via ${gateway6} dev ${end} onlink`,
  ];
}
