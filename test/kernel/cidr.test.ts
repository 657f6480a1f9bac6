import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cidrSize, formatCidr, ipv4AddressAt, parseCidr } from '../../src/kernel/cidr.ts';
import { PROPERTY_RUNS } from '../support/runs.ts';

test('parseCidr accepts IPv4 and IPv6 blocks', () => {
  assert.deepEqual(parseCidr('203.0.113.0/24'), { family: 4, prefixLength: 24, first: 0xcb007100n });
  assert.deepEqual(parseCidr('2001:DB8::/32'), { family: 6, prefixLength: 32, first: 0x20010db8n << 96n });
  assert.deepEqual(parseCidr('::/0'), { family: 6, prefixLength: 0, first: 0n });
  assert.equal(parseCidr('1:2:3:4:5:6:7:8/128')?.first, 0x10002000300040005000600070008n);
});

for (const text of [
  ...[
    '',
    '/',
    '203.0.113.0',
    '203.0.113.0/',
    '203.0.113.0/33',
    '203.0.113.1/24',
    '203.0.113.0/-1',
    ' 203.0.113.0/24',
  ],
  ...[
    '203.0.113/24',
    '0203.0.113.0/24',
    '2001:db8::/129',
    '2001:db8::1/64',
    '2001:db8::%1/64',
    '::ffff:1.2.3.4/128',
  ],
  ...['203.0.113.0/24/24', '203.0.113.0/24\n', 'x/24', '203.0.113.0/024', '::/00'],
]) {
  test(`parseCidr rejects ${JSON.stringify(text)}`, () => assert.equal(parseCidr(text), undefined));
}

test('ipv4AddressAt enumerates the addresses of a block', () => {
  fc.assert(
    fc.property(
      fc.nat(0xffffffff),
      fc.integer({ min: 16, max: 32 }),
      fc.nat(65_535),
      (number, length, index) => {
        const size = 2 ** (32 - length);
        const first = number - (number % size);
        const text = [24, 16, 8, 0].map((shift) => (first >>> shift) & 255).join('.');
        const cidr = parseCidr(`${text}/${length}`);
        assert.ok(cidr);
        assert.equal(cidrSize(cidr), BigInt(size));
        const inside = index % size;
        assert.equal(parseCidr(`${ipv4AddressAt(cidr, inside)}/32`)?.first, BigInt(first + inside));
      },
    ),
    { numRuns: PROPERTY_RUNS * 5 },
  );
});

test('formatCidr writes the canonical form of a block', () => {
  for (const [text, canonical] of [
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['0:0:0:0:0:0:0:0/0', '::/0'],
    ['2001:0DB8:0:0:0:0:0:0/32', '2001:db8::/32'],
    ['1:0:0:2:0:0:0:3/128', '1:0:0:2::3/128'],
    ['1:0:2:3:4:5:6:7/128', '1:0:2:3:4:5:6:7/128'],
    ['::ffff:0:0/96', '::ffff:0:0/96'],
  ] as const) {
    const cidr = parseCidr(text);
    assert.ok(cidr, text);
    assert.equal(formatCidr(cidr), canonical);
  }
});

test('parseCidr restores every block that formatCidr writes', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, (1n << 128n) - 1n), fc.nat(128), (number, prefixLength) => {
      const bits = BigInt(128 - prefixLength);
      const cidr = { family: 6, prefixLength, first: (number >> bits) << bits } as const;
      assert.deepEqual(parseCidr(formatCidr(cidr)), cidr);
    }),
    { numRuns: PROPERTY_RUNS * 5 },
  );
});
