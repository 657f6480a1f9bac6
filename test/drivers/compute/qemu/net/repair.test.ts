import assert from 'node:assert/strict';
import { after, before, describe, it, mock } from 'node:test';
import { QemuHost } from '../../../../../src/drivers/compute/qemu/host.ts';
import { readInstalledRules } from '../../../../../src/drivers/compute/qemu/net/installed-rules.ts';
import {
  plugNetwork,
  setFilter,
  setTraffic,
  unplugNetwork,
} from '../../../../../src/drivers/compute/qemu/net/network.ts';
import { repairNetwork } from '../../../../../src/drivers/compute/qemu/net/repair.ts';
import { type MachineRecord, readRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import type { Filter } from '../../../../../src/ports/network.ts';
import { tcp } from '../support/frames.ts';
import { type Guest, NET_SKIP, NetWorld } from '../support/net-world.ts';

const closed: Filter = { rules: [], defaultIn: 'drop', defaultOut: 'drop' };
const mixedFilter: Filter = {
  rules: [
    {
      direction: 'in',
      proto: 'tcp',
      ports: [
        [443, 443],
        [22, 22],
      ],
      remote: '0.0.0.0/0',
      action: 'accept',
    },
    { direction: 'in', proto: 'any', ports: [[7, 9]], remote: '2001:db8::/32', action: 'reject' },
    { direction: 'out', proto: 'udp', ports: [], remote: '192.0.2.0/24', action: 'reject' },
    { direction: 'out', proto: 'icmp', ports: [], remote: '::/0', action: 'drop' },
  ],
  defaultIn: 'drop',
  defaultOut: 'accept',
};
const PEER = '192.0.2.77';
const FOREIGN_RULES = `
table inet firewall {
  chain forward {
    type filter hook forward priority filter; policy accept;
    tcp dport 4444 drop
  }
}
table ip skerry {
  set own { type ipv4_addr; }
}
`;

describe('restoring the network of a machine', { skip: NET_SKIP }, () => {
  let world: NetWorld;
  let guest: Guest;
  let port = 30_000;
  before(async () => {
    world = await NetWorld.create(2);
    guest = world.guest(1);
  });
  after(() => world.close());

  const nft = (input: string) => world.host.runInNet('nft', ['-f', '-'], { input });
  const rules = () => world.host.runInNet('nft', ['list', 'ruleset']);
  /**
   * Returns everything about the network that is visible from outside the guests, once the kernel has checked
   * new addresses. What the kernel learns about neighbors comes and goes on its own.
   */
  async function state(): Promise<string> {
    while (/tentative/.test(await world.host.runInNet('ip', ['address'])));
    const parts = [
      ['nft', 'list', 'ruleset'],
      ['ip', '-details', 'address'],
      ['ip', 'route', 'show', 'table', 'all'],
      ['ip', '-6', 'route', 'show', 'table', 'all'],
      ['ip', 'neigh', 'show', 'nud', 'permanent'],
      ['tc', 'qdisc'],
    ] as const;
    const said: string[] = [];
    for (const [program, ...words] of parts) said.push(await world.host.runInNet(program, words));
    return said.join('\n');
  }
  const reaches = (direction: 'in' | 'out', dport: number) =>
    world.verdict(guest, direction, PEER, tcp(++port, dport));

  it('plugging a machine repeatedly changes nothing', async () => {
    await setTraffic(world.host, guest.id, { bitsPerS: 5_000_000, mail: true });
    const before = await state();
    await world.plug(guest);
    await Promise.all(world.guests.map((each) => world.plug(each)));
    assert.equal(await state(), before);
    await setTraffic(world.host, guest.id, { bitsPerS: null, mail: false });
    assert.doesNotMatch(await state(), /tbf|ingress|ifb/);
  });

  /** Counts the warnings and programs during the work. */
  async function watched(work: () => Promise<void>): Promise<{ warned: number; ran: string[] }> {
    const ran = mock.method(world.host, 'runInNet');
    const warn = mock.method(world.host.log, 'warn');
    try {
      await work();
      const programs = ran.mock.calls.map(({ arguments: [program] }) => program);
      return { warned: warn.mock.callCount(), ran: programs };
    } finally {
      ran.mock.restore();
      warn.mock.restore();
    }
  }
  const handles = () => world.host.runInNet('nft', ['-a', 'list', 'ruleset']);

  const settings: readonly (readonly [name: string, changes: Pick<MachineRecord, 'filter' | 'traffic'>])[] = [
    ['without a filter', { filter: null, traffic: { bitsPerS: null, mail: false } }],
    ['with mail and a limit', { filter: null, traffic: { bitsPerS: 5_000_000, mail: true } }],
    ['with a filter', { filter: mixedFilter, traffic: { bitsPerS: null, mail: false } }],
    ['with filter, mail, and a limit', { filter: mixedFilter, traffic: { bitsPerS: 5_000_000, mail: true } }],
  ];
  for (const [name, changes] of settings) {
    it(`an intact machine ${name} is left alone`, async () => {
      await world.plug(guest, changes);
      const before = await handles();
      const { warned, ran } = await watched(() => repairNetwork(world.host));
      assert.equal(warned, 0);
      assert.deepEqual(ran, ['ip', 'nft', 'nft']);
      assert.equal(await handles(), before);
      await world.plug(guest, { filter: null, traffic: { bitsPerS: null, mail: false } });
    });
  }

  it('a packet filter that cannot be read does not count as flushed', async () => {
    const { host } = world;
    const elsewhere = new QemuHost({ ...host.options, netns: 'not-there' });
    await assert.rejects(readInstalledRules(elsewhere), { message: /^nsenter failed/ });
  });

  const thefts: readonly (readonly [part: string, text: string])[] = [
    ['the whole ruleset', 'flush ruleset'],
    ['the rules of a table', 'flush table inet skerry'],
    ['a shared chain’s rules', 'flush chain inet skerry input'],
    ['one of the two tables', 'delete table arp skerry'],
    ['a machine’s map elements', 'flush map inet skerry entering'],
    ['both tables', 'delete table inet skerry\ndelete table arp skerry'],
    ['a shared chain', 'flush chain arp skerry input\ndelete chain arp skerry input'],
    [
      'a machine’s chain',
      'delete element inet skerry entering { "TAP" }\n' +
        'flush chain inet skerry entering-TAP\ndelete chain inet skerry entering-TAP',
    ],
    ['a machine’s rules', 'flush chain inet skerry entering-TAP'],
    [
      'the target of a jump',
      'delete element inet skerry entering { "TAP" }\n' +
        'add element inet skerry entering { "TAP" : jump guard-TAP }',
    ],
    [
      'a jump',
      'delete element inet skerry guards { "TAP" }\nadd element inet skerry guards { "TAP" : accept }',
    ],
    ['a guest’s set element', 'delete element inet skerry guests { "TAP" }'],
    ['a rule’s statement', 'flush chain inet skerry entering-TAP\nadd rule inet skerry entering-TAP accept'],
    ['the order of rules', 'insert rule inet skerry entering-TAP accept'],
    ['a chain’s policy', 'add chain inet skerry input { policy drop; }'],
  ];
  for (const [part, text] of thefts) {
    it(`${part} is restored after other software changed it`, async () => {
      await setFilter(world.host, guest.id, closed);
      const before = await rules();
      await nft(text.replaceAll('TAP', guest.tap));
      assert.notEqual(await rules(), before);
      const { warned } = await watched(() => repairNetwork(world.host));
      assert.equal(warned, 1);
      assert.deepEqual((await rules()).split('\n').sort(), before.split('\n').sort());
      assert.equal(await reaches('in', 443), 'drop');
      await setFilter(world.host, guest.id, null);
      assert.equal(await reaches('in', 443), 'accept');
    });
  }

  it('tables of other software are never touched, and their rules stay in effect', async () => {
    await nft(FOREIGN_RULES);
    const theirs = async () => [
      await world.host.runInNet('nft', ['list', 'table', 'inet', 'firewall']),
      await world.host.runInNet('nft', ['list', 'table', 'ip', 'skerry']),
    ];
    const before = await theirs();
    await setFilter(world.host, guest.id, closed);
    await setFilter(world.host, guest.id, null);
    await world.plug(guest);
    await repairNetwork(world.host);
    assert.deepEqual(await theirs(), before);
    assert.equal(await reaches('out', 4444), 'drop');
    await nft('delete table inet firewall\ndelete table ip skerry\n');
    assert.equal(await reaches('out', 4444), 'accept');
  });

  it('unplugging leaves nothing, and settings changed meanwhile apply at the next plug', async () => {
    // This tap is created by the driver itself.
    const { host } = world;
    const before = await state();
    const record = { ...guest.record, spec: { ...guest.record.spec, id: 'guest-of-a-tap', ...far } };
    const throttled = { bitsPerS: 1_000_000, mail: false };
    await plugNetwork(host, { ...record, filter: closed, traffic: throttled }, { uid: 0 });
    assert.match(
      await host.runInNet('ip', ['-details', 'link', 'show', host.tap(record.spec.id)]),
      / tun type tap /,
    );
    for (const _ of ['once', 'again']) await unplugNetwork(host, record.spec.id);
    assert.equal(await state(), before);
    await host.runInNet('ip', ['link', 'set', guest.tap, 'name', 'away']);
    await setFilter(host, guest.id, closed);
    await setTraffic(host, guest.id, { bitsPerS: null, mail: true });
    assert.deepEqual((await readRecord(host.layout, guest.id))?.filter, closed);
    await host.runInNet('ip', ['link', 'set', 'away', 'name', guest.tap]);
    await world.plug(guest);
    assert.equal(await reaches('in', 443), 'drop');
    await setFilter(host, guest.id, null);
    assert.equal(await reaches('out', 25), 'accept');
  });
});

const far = {
  ipv4: { address: '198.51.100.200', gateway: '198.51.100.1' },
  ipv6: { address: '2001:db8:200::1', prefix: '2001:db8:200::/64' },
};
