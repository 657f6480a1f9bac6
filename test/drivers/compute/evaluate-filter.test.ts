import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Filter, FilterRule } from '../../../src/ports/network.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { evaluateFilter, type Packet } from './evaluate-filter.ts';

function rule(wanted: Partial<FilterRule>): FilterRule {
  return { direction: 'in', proto: 'any', ports: [], remote: '0.0.0.0/0', action: 'accept', ...wanted };
}
function packet(wanted: Partial<Packet> = {}): Packet {
  return { direction: 'in', proto: 'tcp', port: 22, remote: '203.0.113.9', ...wanted };
}
function filter(rules: FilterRule[], defaults: Partial<Filter> = {}): Filter {
  return { rules, defaultIn: 'drop', defaultOut: 'accept', ...defaults };
}

describe('packet filter', () => {
  it('a missing filter accepts everything', () => {
    assert.equal(evaluateFilter(null, packet()), 'accept');
  });

  it('the first matching rule of a filter decides', () => {
    const reject = rule({ action: 'reject', remote: '203.0.113.0/24' });
    const accept = rule({ action: 'accept' });
    assert.equal(evaluateFilter(filter([reject, accept]), packet()), 'reject');
    assert.equal(evaluateFilter(filter([accept, reject]), packet()), 'accept');
  });

  it('a packet that matches no rule gets the default action of its direction', () => {
    const out = rule({ direction: 'out', action: 'reject' });
    assert.equal(evaluateFilter(filter([out]), packet()), 'drop');
    assert.equal(evaluateFilter(filter([out]), packet({ direction: 'out' })), 'reject');
    assert.equal(evaluateFilter(filter([], { defaultOut: 'drop' }), packet({ direction: 'out' })), 'drop');
    assert.equal(evaluateFilter(filter([]), packet({ direction: 'out' })), 'accept');
  });

  it('port ranges are inclusive and match no packet without a port', () => {
    const web = filter([
      rule({
        proto: 'tcp',
        ports: [
          [80, 80],
          [8000, 8002],
        ],
      }),
    ]);
    const verdict = (port: number | null) => evaluateFilter(web, packet({ port }));
    assert.deepEqual([80, 81, 7999, 8000, 8001, 8002, 8003].map(verdict), [
      'accept',
      'drop',
      'drop',
      'accept',
      'accept',
      'accept',
      'drop',
    ]);
    assert.equal(verdict(null), 'drop');
    assert.equal(evaluateFilter(web, packet({ port: 80, proto: 'udp' })), 'drop');
  });

  it('a rule matches its own protocol, and "any" matches all of them', () => {
    for (const proto of ['tcp', 'udp', 'icmp', 'other'] as const) {
      const sent = packet({ proto, port: null });
      assert.equal(evaluateFilter(filter([rule({})]), sent), 'accept');
      const udp = filter([rule({ proto: 'udp' })]);
      assert.equal(evaluateFilter(udp, sent), proto === 'udp' ? 'accept' : 'drop');
    }
  });

  it('an IPv4 range never matches IPv6, not even mapped addresses, and vice versa', () => {
    const four = filter([rule({ remote: '0.0.0.0/0' })]);
    const six = filter([rule({ remote: '::/0' })]);
    for (const remote of ['2001:db8::9', '::ffff:203.0.113.9', '::1']) {
      assert.deepEqual(
        [evaluateFilter(four, packet({ remote })), evaluateFilter(six, packet({ remote }))],
        ['drop', 'accept'],
      );
    }
    assert.deepEqual([evaluateFilter(four, packet()), evaluateFilter(six, packet())], ['accept', 'drop']);
  });

  it('a range of any prefix length matches exactly the addresses inside it', () => {
    const dotted = (bits: number) => [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
    const word = fc.integer({ min: 0, max: 0xffffffff });
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 32 }), (base, peer, length) => {
        const mask = length === 0 ? 0 : (~0 << (32 - length)) >>> 0;
        const network = (base & mask) >>> 0;
        const near = ((base & mask) | (peer & ~mask)) >>> 0;
        const block = filter([rule({ remote: `${dotted(network)}/${length}` })]);
        const inside = (peer & mask) >>> 0 === network;
        assert.equal(evaluateFilter(block, packet({ remote: dotted(peer) })), inside ? 'accept' : 'drop');
        assert.equal(evaluateFilter(block, packet({ remote: dotted(near) })), 'accept');
      }),
      { numRuns: PROPERTY_RUNS * 20 },
    );
  });
});
