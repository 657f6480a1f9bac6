import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { arp, echo, icmp, neighbor, tcp, udp } from '../support/frames.ts';
import { type Guest, NET_SKIP, NetWorld } from '../support/net-world.ts';

const PEERS = ['192.0.2.77', '2001:db8:77::7'];
const ALL_NODES = 'ff02::1';
const GATEWAY_V6 = 'fe80::1';

describe('the spoofing guard', { skip: NET_SKIP }, () => {
  let world: NetWorld;
  let guest: Guest;
  let other: Guest;
  before(async () => {
    world = await NetWorld.create(2);
    guest = world.guest(1);
    other = world.guest(2);
  });
  after(() => world.close());

  /** Returns the host's answers to a guest's frame, on the guest's own link. */
  async function answers(bytes: Buffer): Promise<Buffer[]> {
    const seen = await world.exchange([[guest.id, bytes]]);
    return seen.filter(([at]) => at === guest.id).map(([, answer]) => answer);
  }
  const asked = (target: string, sender = { mac: guest.mac, ip: guest.ipv4 }, from = guest.mac) =>
    arp({ from, to: 'ff:ff:ff:ff:ff:ff' }, 1, sender, target);

  it('a guest can send from its own addresses and receive from anywhere', async () => {
    for (const remote of PEERS) {
      for (const direction of ['in', 'out'] as const) {
        for (const l4 of [tcp(4001, 443), udp(4001, 53), echo(1)]) {
          assert.equal(await world.verdict(guest, direction, remote, l4), 'accept');
        }
      }
    }
  });

  it('a packet with another machine’s, the host’s, or an unassigned source address is dropped', async () => {
    const lies = [other.ipv4, '198.51.100.1', '192.0.2.1', '203.0.113.5', '0.0.0.0', '127.0.0.1'];
    for (const from of lies) {
      assert.equal(await world.passes(guest, world.outward(guest, '192.0.2.77', udp(1, 9), { from })), false);
    }
    for (const from of [other.ipv6, '2001:db8:ffff::1', '2001:db8:5::5', '::', GATEWAY_V6, '::1']) {
      const bytes = world.outward(guest, '2001:db8:77::7', udp(1, 9), { from });
      assert.equal(await world.passes(guest, bytes), false, from);
    }
    const toOther = world.outward(guest, other.ipv4, udp(1, 9), { from: '192.0.2.77' });
    assert.equal(await world.passes(guest, toOther), false);
  });

  it('every address of the guest’s own prefix can be used', async () => {
    const from = '2001:db8:1:0:aaaa::5';
    assert.equal(
      await world.passes(guest, world.outward(guest, '2001:db8:77::7', udp(1, 9), { from })),
      true,
    );
    const bytes = world.inward({ ...guest, ipv6: from }, '2001:db8:77::7', udp(2, 9));
    const seen = await world.exchange([['outside', bytes]]);
    assert.ok(seen.some(([at]) => at === guest.id));
  });

  it('a frame from another MAC address is dropped', async () => {
    for (const remote of PEERS) {
      const bytes = world.outward(guest, remote, udp(3, 9), { mac: other.mac });
      assert.equal(await world.passes(guest, bytes), false);
    }
  });

  it('ARP for the gateway gets the host’s MAC, and ARP from a false sender gets no answer', async () => {
    const [answer, ...more] = await answers(asked('198.51.100.1'));
    assert.equal(more.length, 0);
    assert.equal(answer?.subarray(6, 12).toString('hex'), guest.gatewayMac.replaceAll(':', ''));
    assert.deepEqual(await answers(asked('198.51.100.1', { mac: guest.mac, ip: other.ipv4 })), []);
    assert.deepEqual(await answers(asked('198.51.100.1', { mac: other.mac, ip: guest.ipv4 })), []);
    assert.deepEqual(await answers(asked('198.51.100.1', undefined, other.mac)), []);
    // A guest can discover neither its neighbors nor other addresses of the host.
    assert.deepEqual(await answers(asked(other.ipv4)), []);
    assert.deepEqual(await answers(asked('192.0.2.1')), []);
  });

  it('a neighbor solicitation for the gateway is answered', async () => {
    const bytes = world.outward(guest, 'ff02::1:ff00:1', neighbor(135, GATEWAY_V6, guest.mac));
    const [answer] = await answers(bytes);
    assert.equal(answer?.subarray(6, 12).toString('hex'), guest.gatewayMac.replaceAll(':', ''));
    const lie = world.outward(guest, 'ff02::1:ff00:1', neighbor(135, GATEWAY_V6, guest.mac), {
      from: other.ipv6,
    });
    assert.deepEqual(await answers(lie), []);
  });

  it('no message of a guest changes the host’s neighbor entries', async () => {
    const table = () => world.host.runInNet('ip', ['neigh', 'show']);
    const before = await table();
    assert.equal(before.match(/PERMANENT/g)?.length, 2 + 2 * world.guests.length);
    const gateway = guest.gatewayMac;
    const lies = [guest.ipv4, other.ipv4, '198.51.100.1', '192.0.2.2'].flatMap((ip) => [
      arp({ from: guest.mac, to: gateway }, 2, { mac: guest.mac, ip }, '198.51.100.1'),
      arp({ from: other.mac, to: gateway }, 2, { mac: other.mac, ip }, '198.51.100.1'),
    ]);
    const adverts = [guest.ipv6, other.ipv6, GATEWAY_V6, '2001:db8:ffff::2'].flatMap((target) => [
      world.outward(guest, ALL_NODES, neighbor(136, target, other.mac)),
      world.outward(guest, GATEWAY_V6, neighbor(136, target, other.mac)),
    ]);
    await world.exchange([...lies, ...adverts].map((bytes) => [guest.id, bytes] as const));
    assert.equal(await table(), before);
  });

  it('false neighbor advertisements, router advertisements, and redirects are dropped', async () => {
    const dropped = async (...frames: readonly Buffer[]) => {
      const before = await heardIcmp6();
      await world.exchange(frames.map((bytes) => [guest.id, bytes] as const));
      return (await heardIcmp6()) === before;
    };
    const advert = (target: string) => world.outward(guest, ALL_NODES, neighbor(136, target, guest.mac));
    assert.equal(await dropped(advert(guest.ipv6)), false);
    assert.equal(await dropped(advert('fe80::5054:ff:fe00:1')), false);
    for (const target of [other.ipv6, GATEWAY_V6, '2001:db8:ffff::2'])
      assert.ok(await dropped(advert(target)), target);
    assert.ok(await dropped(world.outward(guest, ALL_NODES, echo(9), { from: GATEWAY_V6 })));
    for (const type of [134, 137]) {
      const bytes = icmp(type, Buffer.alloc(36));
      assert.ok(
        await dropped(world.outward(guest, ALL_NODES, bytes, { from: 'fe80::5054:ff:fe00:1' })),
        `${type}`,
      );
    }
  });

  it('a guest cannot act as a DHCP server', async () => {
    assert.equal(await world.verdict(guest, 'out', '192.0.2.77', udp(67, 68)), 'drop');
    assert.equal(await world.verdict(guest, 'out', '2001:db8:77::7', udp(547, 546)), 'drop');
    assert.equal(await world.verdict(guest, 'out', '192.0.2.77', udp(68, 67)), 'accept');
  });

  it('made-up senders do not fill the host’s neighbor table, and the gateway still answers', async () => {
    const made = Array.from({ length: 600 }, (_, index) => (index + 1).toString(16));
    const ask = neighbor(135, GATEWAY_V6, guest.mac);
    const floods: readonly (readonly [what: string, frames: (from: string) => Buffer])[] = [
      ['asks', (from) => world.outward(guest, 'ff02::1:ff00:1', ask, { from: `fe80::${from}:1` })],
      [
        'asks by its prefix',
        (from) => world.outward(guest, 'ff02::1:ff00:1', ask, { from: `2001:db8:1::${from}` }),
      ],
      ['pings', (from) => world.outward(guest, GATEWAY_V6, echo(1), { from: `fe80::${from}:2` })],
      [
        'pings by its prefix',
        (from) => world.outward(guest, '2001:db8:ffff::1', echo(1), { from: `2001:db8:1::${from}` }),
      ],
      ['the web', (from) => world.outward(guest, GATEWAY_V6, tcp(1, 80), { from: `fe80::${from}:3` })],
    ];
    for (const [what, of] of floods) {
      await world.plug(guest);
      const before = await neighborCount();
      await world.exchange(made.map((from) => [guest.id, of(from)] as const));
      const more = (await neighborCount()) - before;
      assert.ok(more <= 100, `${what}: ${more}`);
    }
    const { asked, seen } = await untilAnswered(world.outward(guest, 'ff02::1:ff00:1', ask));
    assert.ok(seen.length <= asked, `${seen.length} answers to ${asked} questions`);
  });

  /** Returns the number of the host's IPv6 neighbor entries. */
  async function neighborCount(): Promise<number> {
    return (await world.host.runInNet('ip', ['-6', 'neigh', 'show', 'nud', 'all'])).split('\n').length;
  }
  /** A busy host answers late: the answer to an earlier question may come with that to the last one. */
  async function untilAnswered(bytes: Buffer): Promise<{ asked: number; seen: Buffer[] }> {
    for (let asked = 1; ; asked++) {
      const seen = await answers(bytes);
      if (seen.length > 0) return { asked, seen };
    }
  }

  /** Returns how many ICMPv6 messages the host itself has accepted. */
  async function heardIcmp6(): Promise<number> {
    const text = await world.host.runInNet('cat', ['/proc/thread-self/net/snmp6']);
    return Number(/Icmp6InMsgs\s+(\d+)/.exec(text)?.[1]);
  }
});
