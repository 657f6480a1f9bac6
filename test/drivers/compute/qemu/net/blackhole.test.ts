import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, afterEach, before, describe, it, mock } from 'node:test';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import {
  PacketMeter,
  ratesBetween,
  readTaps,
} from '../../../../../src/drivers/compute/qemu/metrics/packets.ts';
import { readBlackholes, repairBlackholes } from '../../../../../src/drivers/compute/qemu/net/blackhole.ts';
import {
  routeNetwork,
  setTraffic,
  unplugNetwork,
  unrouteNetwork,
} from '../../../../../src/drivers/compute/qemu/net/network.ts';
import { repairNetwork } from '../../../../../src/drivers/compute/qemu/net/repair.ts';
import { readRecord, writeRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import type { AddressFamily } from '../../../../../src/ports/network.ts';
import { udp } from '../support/frames.ts';
import { type Guest, NET_SKIP, NetWorld } from '../support/net-world.ts';

const PEERS = { 4: '192.0.2.77', 6: '2001:db8:77::7' };
/** Sends frames, each many times: arguments are an interface, a frame, and a count. */
const FLOOD = `
import socket, sys
for at in range(1, len(sys.argv), 3):
  wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
  wire.bind((sys.argv[at], 0))
  for _ in range(int(sys.argv[at + 2])): wire.send(bytes.fromhex(sys.argv[at + 1]))
`;
/** Opens a tap as a guest does that is too busy to read, and holds it until its input ends. */
const UNREAD_TAP = `
import fcntl, struct, sys
tap = open('/dev/net/tun', 'r+b', buffering=0)
fcntl.ioctl(tap, 0x400454ca, struct.pack('16sH', sys.argv[1].encode(), 0x1002))
print('ready', flush=True)
sys.stdin.read()
`;
/** Tells the families apart in one counter. */
const COUNTS = { 4: 100, 6: 1_000 };
const ARRIVE_MAX_MS = 10_000;
type Burst = readonly [from: string, frame: Buffer, count: number];

describe('floods and blackholes', { skip: NET_SKIP }, () => {
  let world: NetWorld;
  let guest: Guest;
  let other: Guest;
  let last: Guest;
  before(async () => {
    world = await NetWorld.create(3);
    guest = world.guest(1);
    other = world.guest(2);
    last = world.guest(3);
  });
  after(() => world.close());
  afterEach(() => blackhole([]));

  const blackhole = (blackholed: readonly AddressFamily[]) =>
    setTraffic(world.host, guest.id, { bitsPerS: null, mail: false, blackholed });

  async function send(...bursts: readonly Burst[]): Promise<void> {
    const words = bursts.flatMap(([from, frame, count]) => [from, frame.toString('hex'), String(count)]);
    await run('ip', ['netns', 'exec', world.ends, 'python3', '-c', FLOOD, ...words]);
  }
  const burstIn = (to: Guest, family: AddressFamily): Burst => [
    'outside',
    world.inward(to, PEERS[family], udp(1, 9)),
    COUNTS[family],
  ];
  const burstOut = (from: Guest, family: AddressFamily): Burst => [
    from.id === guest.id ? 'end1' : 'end2',
    world.outward(from, PEERS[family], udp(1, 9)),
    COUNTS[family],
  ];

  /** Packets that reached the guest, and that left the host. */
  async function counters(of: Guest): Promise<{ in: number; out: number }> {
    const text = await world.host.runInNet('cat', ['/proc/net/dev']);
    const [, columns = ''] = /^ *uplink:(.*)$/m.exec(text) ?? [];
    const taps = await readTaps(world.host);
    return { in: taps.get(of.tap)?.in.packets ?? 0, out: Number(columns.trim().split(/\s+/)[9]) };
  }

  /** The families that pass in one direction, such as `4 6`. Packets of the last guest come last. */
  async function passes(of: Guest, direction: 'in' | 'out'): Promise<string> {
    const burst = direction === 'in' ? burstIn : burstOut;
    const before = { own: await counters(of), last: await counters(last) };
    await send(burst(of, 4), burst(of, 6));
    await send(burstIn(last, 4));
    const until = performance.now() + ARRIVE_MAX_MS;
    while ((await counters(last)).in - before.last.in < COUNTS[4]) assert.ok(performance.now() < until);
    const passed = (await counters(of))[direction] - before.own[direction];
    const families = { 0: '', 1: '4', 10: '6', 11: '4 6' } as const;
    return families[Math.round(passed / COUNTS[4]) as keyof typeof families] ?? `${passed} packets`;
  }
  const passing = async (of = guest) => `${await passes(of, 'in')} | ${await passes(of, 'out')}`;
  const ALL = '4 6 | 4 6';
  const NOTHING = ' | ';

  it('a flood is counted by direction and family, for all servers with one reading', async () => {
    const frames = [
      ['outside', 'in', 4, world.inward(guest, PEERS[4], udp(1, 9))],
      ['outside', 'in', 6, world.inward(guest, PEERS[6], udp(1, 9))],
      ['end1', 'out', 4, world.outward(guest, PEERS[4], udp(1, 9))],
      ['end1', 'out', 6, world.outward(guest, PEERS[6], udp(1, 9))],
    ] as const;
    for (const [from, direction, family, frame] of frames) {
      const taps = await readTaps(world.host);
      await send([from, frame, 3_000]);
      const rates = ratesBetween({ at: 0, taps }, { at: 1_000, taps: await readTaps(world.host) });
      const rate = rates.get(guest.tap)?.[direction];
      assert.ok(rate && rate.packetsPerS >= 3_000 && rate.packetsPerS < 3_100, `${direction}${family}`);
      assert.ok(rate.bitsPerS >= 3_000 * 8 * 40, `${direction}${family}: ${rate.bitsPerS}`);
      const wantedIpv6 = family === 6 ? 3_000 : 0;
      assert.ok(Math.abs(rate.ipv6PacketsPerS - wantedIpv6) < 100, `${direction}${family}`);
      const quiet = rates.get(other.tap);
      assert.ok(quiet && quiet.in.packetsPerS < 100 && quiet.out.packetsPerS < 100);
    }
  });

  it('packets that a busy server does not take in time are counted', async () => {
    const tap = world.host.tap('unread');
    const netns = world.host.options.netns ?? assert.fail();
    const holder = spawn('ip', ['netns', 'exec', netns, 'python3', '-c', UNREAD_TAP, tap]);
    try {
      await once(holder.stdout, 'data');
      await world.host.runInNet('ip', ['link', 'set', tap, 'up']);
      const before = await readTaps(world.host);
      const frame = world.inward(guest, PEERS[4], udp(1, 9)).toString('hex');
      await world.host.runInNet('python3', ['-c', FLOOD, tap, frame, '3000']).catch(() => undefined);
      const rates = ratesBetween({ at: 0, taps: before }, { at: 1_000, taps: await readTaps(world.host) });
      assert.ok((rates.get(tap)?.in.packetsPerS ?? 0) > 1_500, JSON.stringify(rates.get(tap)));
    } finally {
      holder.stdin.end();
      await once(holder, 'exit');
    }
  });

  it('the meter answers at once, and reads again only after a moment', async () => {
    const meter = new PacketMeter(world.host);
    const first = await meter.sample([guest.id, 'unknown']);
    assert.deepEqual(
      first.map(({ id }) => id),
      [guest.id],
    );
    let later = 0;
    const now = performance.now.bind(performance);
    const clock = mock.method(performance, 'now', () => now() + later);
    try {
      await send(['outside', world.inward(guest, PEERS[4], udp(1, 9)), 5_000]);
      assert.deepEqual(await meter.sample([guest.id]), first);
      later = 10_000;
      const [next] = await meter.sample([guest.id]);
      assert.ok(next && next.in.packetsPerS > 200 && next.in.packetsPerS < 600, `${next?.in.packetsPerS}`);
    } finally {
      clock.mock.restore();
    }
  });

  it('nothing passes to or from a blackholed address, and everything once it is lifted', async () => {
    assert.equal(await passing(), ALL);
    await blackhole([4]);
    await blackhole([4]);
    assert.equal(await passing(), '6 | 6');
    await blackhole([6]);
    assert.equal(await passing(), '4 | 4');
    const elsewhere = { ...guest, ipv6: '2001:db8:1:0:aaaa::5' };
    assert.equal(await passing(elsewhere), '4 | 4');
    await blackhole([4, 6]);
    assert.equal(await passing(), NOTHING);
    assert.equal(await passing(other), ALL);
    await blackhole([]);
    assert.equal(await passing(), ALL);
    assert.deepEqual(await readBlackholes(world.host), { 4: [], 6: [] });
  });

  it('a flood to a blackholed address does not reach the server, and its own is still counted', async () => {
    await blackhole([4]);
    const taps = await readTaps(world.host);
    await send(['outside', world.inward(guest, PEERS[4], udp(1, 9)), 2_000]);
    await send(['end1', world.outward(guest, PEERS[4], udp(1, 9)), 2_000]);
    const rates = ratesBetween({ at: 0, taps }, { at: 1_000, taps: await readTaps(world.host) });
    assert.ok((rates.get(guest.tap)?.in.packetsPerS ?? 2_000) < 100);
    assert.ok((rates.get(guest.tap)?.out.packetsPerS ?? 0) >= 2_000);
  });

  it('it survives flushed rules, deleted routes, a restart, and a stop of the server', async () => {
    await blackhole([4, 6]);
    await world.host.runInNet('nft', ['flush', 'ruleset']);
    await world.host.runInNet('ip', ['route', 'delete', 'blackhole', `${guest.ipv4}/32`]);
    await world.host.runInNet('ip', ['route', 'delete', 'blackhole', '2001:db8:1::/64']);
    await repairNetwork(world.host);
    await repairBlackholes(world.host);
    assert.equal(await passing(), NOTHING);
    assert.equal(await passing(other), ALL);
    await world.plug(guest);
    assert.equal(await passing(), NOTHING);
    const wanted = await readBlackholes(world.host);
    assert.equal(wanted[4].length + wanted[6].length, 3);
    const record = (await readRecord(world.host.layout, guest.id)) ?? assert.fail();
    await unrouteNetwork(world.host, record);
    assert.deepEqual(await readBlackholes(world.host), { 4: [], 6: [] });
    await routeNetwork(world.host, record);
    assert.deepEqual(await readBlackholes(world.host), wanted);
    await repairBlackholes(world.host);
    assert.deepEqual(await readBlackholes(world.host), wanted);
  });

  it('the route of a server that moved away is removed, and that of a block stays', async () => {
    const block = ['blackhole', '198.51.100.99/32', 'metric', '4294967295'];
    await world.host.runInNet('ip', ['route', 'add', ...block]);
    await blackhole([4, 6]);
    const record = (await readRecord(world.host.layout, guest.id)) ?? assert.fail();
    const move = { moveId: 'move', phase: 'sent' } as const;
    await writeRecord(world.host.layout, { ...record, moving: move });
    await repairBlackholes(world.host);
    assert.deepEqual(await readBlackholes(world.host), { 4: [], 6: [] });
    await writeRecord(world.host.layout, record);
    await repairBlackholes(world.host);
    assert.equal(await passing(), NOTHING);
    const left = await world.host.runInNet('ip', ['route', 'show', 'type', 'blackhole']);
    assert.match(left, /198\.51\.100\.99/);
    await world.host.runInNet('ip', ['route', 'delete', ...block]);
  });

  it('a server that is off keeps its blackhole until it is lifted', async () => {
    const spare = await NetWorld.create(1);
    try {
      const off = spare.guest(1);
      const set = (blackholed: readonly AddressFamily[]) =>
        setTraffic(spare.host, off.id, { bitsPerS: null, mail: false, blackholed });
      await unplugNetwork(spare.host, off.id);
      await set([4]);
      assert.deepEqual((await readBlackholes(spare.host))[4], [`${off.ipv4}/32`]);
      await repairBlackholes(spare.host);
      assert.deepEqual((await readBlackholes(spare.host))[4], [`${off.ipv4}/32`]);
      await set([]);
      assert.deepEqual((await readBlackholes(spare.host))[4], []);
    } finally {
      await spare.close();
    }
  });
});
