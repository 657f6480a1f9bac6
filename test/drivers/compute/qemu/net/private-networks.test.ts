import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setFilter } from '../../../../../src/drivers/compute/qemu/net/network.ts';
import { storeServerBlocks } from '../../../../../src/drivers/compute/qemu/net/private-networks.ts';
import { repairNetwork } from '../../../../../src/drivers/compute/qemu/net/repair.ts';
import { echo, isRejection, tcp, udp } from '../support/frames.ts';
import { type Guest, type Layer4, NET_SKIP, NetWorld, type Verdict } from '../support/net-world.ts';

const TCP = 6;
const DENIED = [
  ...['10.1.2.3', '172.20.0.1', '192.168.1.1', '100.100.100.200', '169.254.169.254'],
  ...['168.63.129.16', 'fd00:ec2::254', '64:ff9b::a9fe:a9fe', '64:ff9b::c0a8:101', '64:ff9b:1::1'],
];

describe('private networks', { skip: NET_SKIP }, () => {
  let world: NetWorld;
  let guest: Guest;
  let port = 20_000;
  before(async () => {
    world = await NetWorld.create(2);
    guest = world.guest(1);
  });
  after(() => world.close());

  const t = (dport: number) => tcp(++port, dport);
  type Row = readonly [remote: string, l4: Layer4, expected: Verdict];
  async function expect(direction: 'in' | 'out', rows: readonly Row[]): Promise<void> {
    const packets = rows.map(([remote, l4]) => ({ direction, remote, l4 }));
    const expected = rows.map(([, , verdict]) => verdict);
    assert.deepEqual(await world.verdicts(guest, packets), expected);
  }

  it('a guest reaches private networks only if the operator allows them', async () => {
    for (const remote of DENIED) {
      await expect('out', [
        [remote, t(80), 'reject'],
        [remote, udp(++port, 53), 'reject'],
        [remote, echo(++port), 'reject'],
      ]);
    }
    // `allowPrivate` of the world. A public address behind NAT64 is not private.
    await expect('out', [
      ['10.7.255.1', t(80), 'accept'],
      ['fd00:7::9', t(80), 'accept'],
      ['64:ff9b::808:808', t(80), 'accept'],
    ]);
  });

  it('a customer’s firewall cannot open private networks', async () => {
    const all = { direction: 'out', proto: 'any', ports: [], action: 'accept' } as const;
    const rules = [
      { ...all, remote: '0.0.0.0/0' },
      { ...all, remote: '::/0' },
    ];
    await setFilter(world.host, guest.id, { rules, defaultIn: 'accept', defaultOut: 'accept' });
    await expect('out', [
      ['10.1.2.3', t(80), 'reject'],
      ['fd00:ec2::254', t(80), 'reject'],
    ]);
    await setFilter(world.host, guest.id, null);
  });

  it('a private peer that opens a connection to a guest gets its answers', async () => {
    const SYN_ACK = 18;
    await expect('in', [['10.1.2.3', tcp(1_234, 22), 'accept']]);
    await expect('out', [['10.1.2.3', tcp(22, 1_234, SYN_ACK), 'accept']]);
  });

  it('a guest reaches the private blocks of the inventory after the next round of supervision', async () => {
    await storeServerBlocks(world.host, ['10.9.0.0/16', '203.0.113.0/24', 'fd00:9::/56']);
    await repairNetwork(world.host);
    await expect('out', [
      ['10.9.0.1', t(80), 'accept'],
      ['fd00:9::1', t(80), 'accept'],
      ['10.1.2.3', t(80), 'reject'],
    ]);
    await storeServerBlocks(world.host, []);
    await repairNetwork(world.host);
    await expect('out', [['10.9.0.1', t(80), 'reject']]);
  });

  it('a guest reaches a private gateway, and no other private address of the host', async () => {
    const { spec } = guest.record;
    const gateway = '10.66.0.1';
    await world.host.runInNet('ip', ['addr', 'add', '10.1.0.1/32', 'dev', 'uplink']);
    await world.plug(guest, { spec: { ...spec, ipv4: { ...spec.ipv4, gateway } } });
    // Nothing listens there: the host's kernel answers what passes with a reset.
    const isReset = async (to: string) => {
      const bytes = world.outward(guest, to, t(443));
      const seen = await world.exchange([[guest.id, bytes]]);
      const answers = seen.flatMap(([at, each]) => (at === guest.id ? [each] : []));
      return answers.some((each) => each.readUInt8(23) === TCP && isRejection(each, bytes));
    };
    assert.deepEqual([await isReset(gateway), await isReset('10.1.0.1')], [true, false]);
  });
});
