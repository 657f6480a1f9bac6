import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setFilter, setTraffic } from '../../../../../src/drivers/compute/qemu/net/network.ts';
import type { Filter, FilterRule } from '../../../../../src/ports/network.ts';
import { failsAs } from '../../compute-world.ts';
import {
  echo,
  frame,
  icmp,
  ipPayload,
  isHousekeeping,
  isRejection,
  neighbor,
  other,
  tcp,
  udp,
} from '../support/frames.ts';
import { type Guest, type Layer4, NET_SKIP, NetWorld, type Verdict } from '../support/net-world.ts';

const NEAR = '192.0.2.77';
const FAR = '203.0.113.9';
const NEAR_V6 = '2001:db8:77::7';
const FAR_V6 = '2001:db8:99::9';

function rule(wanted: Partial<FilterRule>): FilterRule {
  return { direction: 'in', proto: 'any', ports: [], remote: '0.0.0.0/0', action: 'accept', ...wanted };
}
const open: Filter = { rules: [], defaultIn: 'accept', defaultOut: 'accept' };
const closed: Filter = { rules: [], defaultIn: 'drop', defaultOut: 'drop' };

describe('the packet filter of a machine', { skip: NET_SKIP }, () => {
  let world: NetWorld;
  let guest: Guest;
  let other1: Guest;
  let port = 20_000;
  before(async () => {
    world = await NetWorld.create(2);
    guest = world.guest(1);
    other1 = world.guest(2);
  });
  after(() => world.close());

  const filter = (wanted: Filter | null, of = guest) => setFilter(world.host, of.id, wanted);
  type Row = readonly [remote: string, l4: Layer4, expected: Verdict];
  /** Each packet is the first of its own flow. */
  async function expect(direction: 'in' | 'out', rows: readonly Row[]): Promise<void> {
    const packets = rows.map(([remote, l4]) => ({ direction, remote, l4 }));
    const expected = rows.map(([, , verdict]) => verdict);
    assert.deepEqual(await world.verdicts(guest, packets), expected);
  }
  const t = (dport: number) => tcp(++port, dport);
  const u = (dport: number) => udp(++port, dport);
  const ping = () => echo(++port);
  const esp = () => other(++port);

  it('the first matching rule decides', async () => {
    await filter({
      ...closed,
      rules: [
        rule({ proto: 'tcp', ports: [[22, 22]], remote: '192.0.2.0/24' }),
        rule({ proto: 'tcp', ports: [[22, 22]], action: 'reject' }),
        rule({
          proto: 'tcp',
          ports: [
            [80, 80],
            [8000, 8100],
            [8050, 8200],
          ],
        }),
        rule({ proto: 'udp', ports: [[53, 53]], remote: '::/0', action: 'reject' }),
        rule({ proto: 'icmp', remote: '2001:db8:77::/48' }),
        rule({ proto: 'icmp', remote: '203.0.113.9/32', action: 'reject' }),
        rule({ proto: 'any', remote: '2001:db8:99::9/128', action: 'reject' }),
      ],
    });
    await expect('in', [
      [NEAR, t(22), 'accept'],
      [FAR, t(22), 'reject'],
      [FAR, t(80), 'accept'],
      [FAR, t(81), 'drop'],
      [FAR, t(8000), 'accept'],
      [FAR, t(8100), 'accept'],
      [FAR, t(8200), 'accept'],
      [FAR, t(8201), 'drop'],
      [FAR, u(80), 'drop'],
      // IPv4 blocks never match IPv6, and vice versa.
      [NEAR_V6, t(80), 'drop'],
      [NEAR_V6, u(53), 'reject'],
      [NEAR, u(53), 'drop'],
      [NEAR_V6, ping(), 'accept'],
      [NEAR, ping(), 'drop'],
      [FAR, ping(), 'reject'],
      [FAR_V6, ping(), 'reject'],
      [FAR_V6, t(443), 'reject'],
      [FAR_V6, u(53), 'reject'],
      [FAR_V6, esp(), 'reject'],
      [NEAR, esp(), 'drop'],
    ]);
  });

  it('an outbound rule matches the destination', async () => {
    await filter({
      ...closed,
      defaultIn: 'accept',
      rules: [
        rule({ direction: 'out', proto: 'tcp', ports: [[443, 443]], remote: '192.0.2.77/32' }),
        rule({ direction: 'out', proto: 'any', remote: '203.0.113.0/24', action: 'reject' }),
        rule({ direction: 'out', proto: 'udp', remote: '2001:db8::/32' }),
      ],
    });
    await expect('out', [
      [NEAR, t(443), 'accept'],
      [NEAR, t(444), 'drop'],
      [FAR, t(443), 'reject'],
      [FAR, u(443), 'reject'],
      [FAR, ping(), 'reject'],
      [FAR_V6, u(443), 'accept'],
      [FAR_V6, t(443), 'drop'],
    ]);
    await expect('in', [[FAR, t(443), 'accept']]);
  });

  it('responses to accepted packets pass both ways, and false responses do not', async () => {
    const SYN_ACK = 18;
    const answers: readonly (readonly [at: 'in' | 'out', filter: Filter])[] = [
      ['in', { ...closed, defaultIn: 'accept' }],
      ['out', { ...closed, defaultOut: 'accept' }],
    ];
    for (const [direction, wanted] of answers) {
      await filter(wanted);
      const back = direction === 'in' ? 'out' : 'in';
      for (const remote of [NEAR, NEAR_V6]) {
        const sport = ++port;
        assert.equal(await world.verdict(guest, back, remote, tcp(7, sport, SYN_ACK)), 'drop');
        assert.equal(await world.verdict(guest, direction, remote, tcp(sport, 7)), 'accept');
        assert.equal(await world.verdict(guest, back, remote, tcp(7, sport, SYN_ACK)), 'accept');
        assert.equal(await world.verdict(guest, direction, remote, udp(sport, 7)), 'accept');
        assert.equal(await world.verdict(guest, back, remote, udp(7, sport)), 'accept');
      }
    }
  });

  it('ICMP errors about accepted packets pass, and forged ones do not, except packet too big', async () => {
    for (const [remote, types] of [
      [NEAR, [3, 11, 12]],
      [NEAR_V6, [1, 3, 4, 2]],
    ] as const) {
      for (const type of types) {
        await filter(null);
        const asked = world.outward(guest, remote, udp(++port, 9)).subarray(14);
        const about = (packet: Buffer) => icmp(type, Buffer.concat([Buffer.alloc(4), packet]));
        assert.equal(await world.verdict(guest, 'out', remote, udp(port, 9)), 'accept');
        await filter(closed);
        assert.equal(await world.verdict(guest, 'in', remote, about(asked)), 'accept', `${type}`);
        const forged = about(Buffer.alloc(60, ++port & 255));
        const expected = remote === NEAR_V6 && type === 2 ? 'accept' : 'drop';
        for (const direction of ['in', 'out'] as const)
          assert.equal(await world.verdict(guest, direction, remote, forged), expected, `${type}`);
      }
      assert.equal(await world.verdict(guest, 'in', remote, ping()), 'drop');
    }
  });

  it('traffic between two machines of a host must pass both filters', async () => {
    const between = async (l4: Layer4) => {
      const bytes = frame(
        { from: guest.mac, to: guest.gatewayMac },
        { from: guest.ipv4, to: other1.ipv4 },
        l4,
      );
      const seen = await world.exchange([[guest.id, bytes]]);
      if (seen.some(([at, each]) => at === other1.id && ipPayload(each).equals(ipPayload(bytes))))
        return 'accept';
      return seen.some(([at, each]) => at === guest.id && isRejection(each, bytes)) ? 'reject' : 'drop';
    };
    const only = (direction: 'in' | 'out', dport: number): Filter => ({
      ...closed,
      rules: [rule({ direction, proto: 'tcp', ports: [[dport, dport + 1]] })],
    });
    await filter(only('out', 80));
    await filter(only('in', 81), other1);
    const said = [await between(t(80)), await between(t(81)), await between(t(82))];
    assert.deepEqual(said, ['drop', 'accept', 'drop']);
    await filter(
      { ...open, rules: [rule({ proto: 'tcp', remote: `${guest.ipv4}/32`, action: 'reject' })] },
      other1,
    );
    assert.equal(await between(t(80)), 'reject');
    await filter(null, other1);
    assert.equal(await between(t(80)), 'accept');
  });

  it('setting a filter replaces that of this machine only', async () => {
    await filter(closed, other1);
    const listed = () =>
      world.host.runInNet('nft', ['list', 'chain', 'inet', 'skerry', `entering-${other1.tap}`]);
    const before = await listed();
    for (const wanted of [closed, closed, open, null]) {
      await filter(wanted);
      await expect('in', [[FAR, t(443), wanted === closed ? 'drop' : 'accept']]);
    }
    assert.equal(await listed(), before);
  });

  it('an invalid filter is neither applied nor stored', async () => {
    await filter(closed);
    await assert.rejects(filter({ ...open, rules: [rule({ remote: '0.0.0.0/0; flush ruleset' })] }));
    await world.plug(guest);
    await expect('in', [[FAR, t(443), 'drop']]);
  });

  it('setting a filter or limit of an absent machine is refused', async () => {
    const { host } = world;
    await setFilter(host, 'never-made', null);
    await failsAs('refused', setFilter(host, 'never-made', open));
    await failsAs('refused', setTraffic(host, 'never-made', { bitsPerS: null, mail: true }));
  });

  it('outbound SMTP is rejected unless the machine may send mail', async () => {
    await filter(null);
    await expect('out', [
      [NEAR, t(25), 'reject'],
      [NEAR_V6, t(25), 'reject'],
      [NEAR, t(587), 'accept'],
      [NEAR, u(25), 'accept'],
    ]);
    await expect('in', [[NEAR, t(25), 'accept']]);
    for (const mail of [true, false]) {
      await setTraffic(world.host, guest.id, { bitsPerS: null, mail });
      await expect('out', [[NEAR, t(25), mail ? 'accept' : 'reject']]);
    }
  });

  it('a simultaneous open does not reach a mail server', async () => {
    await filter(null);
    const [SYN, SYN_ACK] = [2, 18];
    for (const remote of [NEAR, NEAR_V6]) {
      // A stranger sends a SYN in the mail server's name: the guest's own SYN would then be a response.
      const mine = ++port;
      assert.equal(await world.verdict(guest, 'in', remote, tcp(25, mine, SYN)), 'accept');
      assert.equal(await world.verdict(guest, 'out', remote, tcp(mine, 25, SYN)), 'reject');
      // A client that connects from port 25 still gets its response.
      const web = ++port;
      assert.equal(await world.verdict(guest, 'in', remote, tcp(25, web, SYN)), 'accept');
      assert.equal(await world.verdict(guest, 'out', remote, tcp(web, 25, SYN_ACK)), 'accept');
    }
  });

  it('a guest reaches only the web ports and ICMP of the host, at all its addresses', async () => {
    const answered = async (to: string, l4: Layer4) => {
      const seen = await world.exchange([[guest.id, world.outward(guest, to, l4)]]);
      return seen.some(([at, each]) => at === guest.id && !isHousekeeping(each));
    };
    for (const to of ['198.51.100.1', '192.0.2.1', '2001:db8:ffff::1', 'fe80::1']) {
      // Nothing listens there, so the host's kernel answers packets that pass.
      for (const dport of [80, 443]) assert.ok(await answered(to, t(dport)), `${to} ${dport}`);
      assert.ok(await answered(to, ping()), `${to} ICMP`);
      for (const l4 of [t(22), t(5432), u(53), u(443), esp()])
        assert.equal(await answered(to, l4), false, to);
    }
    await filter(closed);
    assert.equal(await answered('192.0.2.1', t(443)), false);
    // Neighbor discovery of the gateway works even then.
    assert.ok(await answered('ff02::1:ff00:1', neighbor(135, 'fe80::1', guest.mac)));
    await filter(null);
  });

  it('a packet that a guest sends back to its own interface is dropped', async () => {
    const bytes = world.outward(guest, '2001:db8:1:0:bbbb::1', u(9));
    const seen = await world.exchange([[guest.id, bytes]]);
    // The host occasionally announces its multicast groups on the link.
    assert.ok(!seen.some(([, each]) => ipPayload(each).equals(ipPayload(bytes))));
  });
});
