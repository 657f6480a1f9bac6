import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { setFilter } from '../../../../../src/drivers/compute/qemu/net/network.ts';
import type { Filter, FilterRule } from '../../../../../src/ports/network.ts';
import { PROPERTY_RUNS } from '../../../../support/runs.ts';
import { evaluateFilter, type Packet } from '../../evaluate-filter.ts';
import { echo, other, tcp, udp } from '../support/frames.ts';
import { type Layer4, NET_SKIP, NetWorld } from '../support/net-world.ts';

const PACKETS = 40;

/** A few values only, so that rules and packets often match. */
const REMOTES = [
  '192.0.2.77',
  '192.0.2.200',
  '203.0.113.9',
  '2001:db8:77::7',
  '2001:db8:77:1::1',
  '2001:db8:99::9',
];
const BLOCKS = [
  '0.0.0.0/0',
  '::/0',
  '192.0.2.0/24',
  '192.0.2.128/25',
  '198.18.0.0/15',
  '203.0.113.9/32',
  '2001:db8:77::/48',
  '2001:db8:77::/64',
  '2001:db8:99::9/128',
  '2001:db8::/32',
];
const PORTS = [1, 22, 53, 79, 80, 81, 8000, 8080, 65_535];

const direction = fc.constantFrom('in' as const, 'out' as const);
const policy = fc.constantFrom('accept' as const, 'drop' as const);
const port = fc.constantFrom(...PORTS);
const range = fc.tuple(port, port).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
const rule: fc.Arbitrary<FilterRule> = fc.record({
  direction,
  proto: fc.constantFrom('tcp' as const, 'udp' as const, 'icmp' as const, 'any' as const),
  ports: fc.oneof(fc.constant([]), fc.array(range, { maxLength: 3 })),
  remote: fc.constantFrom(...BLOCKS),
  action: fc.constantFrom('accept' as const, 'drop' as const, 'reject' as const),
});
const filters: fc.Arbitrary<Filter> = fc.record({
  rules: fc.array(rule, { maxLength: 8 }),
  defaultIn: policy,
  defaultOut: policy,
});
const remote = fc.constantFrom(...REMOTES);
const packet: fc.Arbitrary<Packet> = fc.oneof(
  fc.record({ direction, proto: fc.constantFrom('tcp' as const, 'udp' as const), port, remote }),
  fc.record({
    direction,
    proto: fc.constantFrom('icmp' as const, 'other' as const),
    port: fc.constant(null),
    remote,
  }),
);
const packets = fc.array(packet, { minLength: PACKETS, maxLength: PACKETS });

describe('nftables and evaluateFilter', { skip: NET_SKIP }, () => {
  let world: NetWorld;
  let flows = 1024;
  before(async () => {
    world = await NetWorld.create();
  });
  after(() => world.close());

  it('nftables and evaluateFilter agree on any filter and any packet', async () => {
    const property = fc.asyncProperty(filters, packets, async (filter, drawn) => {
      const sent = drawn.map((each) => flow(each, ++flows));
      await setFilter(world.host, world.guest().id, filter);
      const verdicts = await world.verdicts(world.guest(), sent);
      const expected = sent.map((each) => evaluateFilter(filter, each));
      assert.deepEqual(verdicts, expected);
    });
    // A failure prints its seed and the smallest failing filter.
    await fc.assert(property, { numRuns: PROPERTY_RUNS });
  });
});

/** Makes each packet a flow of its own. Without ports, only the addresses distinguish flows. */
function flow(packet: Packet, id: number): Packet & { readonly l4: Layer4 } {
  const { proto, port: to } = packet;
  if (proto === 'icmp') return { ...packet, l4: echo(id) };
  if (proto === 'tcp') return { ...packet, l4: tcp(id, to ?? 0) };
  if (proto === 'udp') return { ...packet, l4: udp(id, to ?? 0) };
  const own = packet.remote.includes(':')
    ? `2001:db8:77::${id.toString(16)}`
    : `198.18.${id >> 8}.${id & 255}`;
  return { ...packet, remote: own, l4: other(id) };
}
