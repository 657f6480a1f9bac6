import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filterStatements } from '../../../../../src/drivers/compute/qemu/net/customer-filter.ts';
import type { Filter, FilterRule } from '../../../../../src/ports/network.ts';

function rule(wanted: Partial<FilterRule>): FilterRule {
  return { direction: 'in', proto: 'any', ports: [], remote: '192.0.2.0/24', action: 'accept', ...wanted };
}
function statements(...rules: readonly FilterRule[]): string[] {
  return filterStatements({ rules, defaultIn: 'accept', defaultOut: 'drop' }, 'in');
}

describe('filterStatements', () => {
  it('a filter ends with its default, and no filter has no statements', () => {
    const none: Filter = { rules: [], defaultIn: 'drop', defaultOut: 'accept' };
    assert.deepEqual(filterStatements(null, 'in'), []);
    assert.deepEqual(filterStatements(none, 'in'), ['drop']);
    assert.deepEqual(filterStatements(none, 'out'), []);
  });

  it('the order of rules is kept per direction, and the remote is matched on the right side', () => {
    const rules = [
      rule({ proto: 'tcp', ports: [[22, 22]] }),
      rule({ direction: 'out', proto: 'udp', ports: [[53, 53]], remote: '2001:db8::/32' }),
      rule({ action: 'drop' }),
    ];
    const filter: Filter = { rules, defaultIn: 'accept', defaultOut: 'drop' };
    assert.deepEqual(filterStatements(filter, 'in'), [
      'ip saddr 192.0.2.0/24 tcp dport { 22 } return',
      'ip saddr 192.0.2.0/24 drop',
    ]);
    assert.deepEqual(filterStatements(filter, 'out'), [
      'ip6 daddr 2001:db8::/32 udp dport { 53 } return',
      'drop',
    ]);
  });

  it('a rule matches only the address family of its remote, also for ICMP', () => {
    assert.deepEqual(statements(rule({ remote: '0.0.0.0/0' })), ['meta nfproto ipv4 return']);
    assert.deepEqual(statements(rule({ remote: '::/0', proto: 'icmp' })), [
      'meta nfproto ipv6 meta l4proto ipv6-icmp return',
    ]);
    assert.deepEqual(statements(rule({ proto: 'icmp' })), ['ip saddr 192.0.2.0/24 meta l4proto icmp return']);
  });

  it('reject is translated for each protocol', () => {
    const unreachable = 'reject with icmpx port-unreachable';
    const reject = (proto: FilterRule['proto']) =>
      statements(rule({ proto, action: 'reject', remote: '::/0' })).map((each) => each.slice(18));
    assert.deepEqual(reject('tcp'), ['meta l4proto tcp reject with tcp reset']);
    assert.deepEqual(reject('udp'), [`meta l4proto udp ${unreachable}`]);
    assert.deepEqual(reject('any'), ['meta l4proto tcp reject with tcp reset', unreachable]);
  });

  it('overlapping port ranges are merged, and a rule that no packet can match is dropped', () => {
    const ports = [
      [8000, 8100],
      [80, 80],
      [8050, 8200],
      [81, 90],
    ] as const;
    assert.deepEqual(statements(rule({ proto: 'udp', ports })), [
      'ip saddr 192.0.2.0/24 udp dport { 80-90, 8000-8200 } return',
    ]);
    assert.deepEqual(statements(rule({ ports })), [
      'ip saddr 192.0.2.0/24 meta l4proto { tcp, udp } th dport { 80-90, 8000-8200 } return',
    ]);
    assert.deepEqual(statements(rule({ proto: 'icmp', ports })), []);
  });

  it('an invalid remote or port range never becomes part of a rule', () => {
    for (const remote of [
      '192.0.2.0',
      '192.0.2.0/33',
      '::/0 drop',
      '0.0.0.0/0\ndelete table inet skerry',
      '',
    ]) {
      assert.throws(() => statements(rule({ remote })));
    }
    for (const range of [
      [-1, 5],
      [5, 4],
      [0, 65_536],
      [1.5, 2],
    ] as const) {
      assert.throws(() => statements(rule({ proto: 'tcp', ports: [range] })));
    }
  });
});
