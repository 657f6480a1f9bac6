import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileFilter } from '../../../src/domain/firewall/apply.ts';
import { checkRule } from '../../../src/domain/firewall/check.ts';
import type { InvalidRequest } from '../../../src/kernel/fail.ts';
import type { FirewallRuleBody } from '../../../src/spec/schemas/firewall.ts';
import { evaluateFilter, type Packet } from '../../drivers/compute/evaluate-filter.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { ALLOW_WEB } from './firewall-world.ts';

interface Group {
  readonly default_action: 'drop' | 'accept';
  readonly rules: readonly FirewallRuleBody[];
}

const compiled = (groups: readonly Group[]) =>
  compileFilter(groups.map((group) => ({ ...group, rules: group.rules.map(checkRule) })));

/** Evaluates the rules as SPEC and DECISIONS describe them, from the text of the rules. */
function referenceVerdict(groups: readonly Group[], packet: Packet): string {
  if (groups.length === 0) return 'accept';
  const all = groups.flatMap((group) => group.rules);
  for (const rule of all) {
    if (rule.direction !== packet.direction) continue;
    if (rule.proto !== 'any' && rule.proto !== packet.proto) continue;
    if (!portMatches(rule.port ?? null, packet.port)) continue;
    if (isIn(rule.source, packet.remote)) return rule.action;
  }
  const governed = packet.direction === 'in' || all.some((rule) => rule.direction === 'out');
  return governed && groups.some((group) => group.default_action === 'drop') ? 'drop' : 'accept';
}

function portMatches(text: string | null, port: number | null): boolean {
  if (text === null) return true;
  const [low, high] = text.split('-').map(Number);
  if (high !== undefined) return port !== null && port >= (low ?? 0) && port <= high;
  return text.split(',').includes(String(port));
}

/** Blocks and addresses with their leading bits, written by hand. */
const BLOCKS: Readonly<Record<string, string>> = {
  '0.0.0.0/0': '4',
  '10.0.0.0/8': '4 0a',
  '10.1.0.0/16': '4 0a 01',
  '10.1.2.3/32': '4 0a 01 02 03',
  '::/0': '6',
  '2001:DB8::/32': '6 2001 0db8',
  '2001:db8:1:0:0::/48': '6 2001 0db8 0001',
  '::ffff:0:0/96': '6 0000 0000 0000 0000 0000 ffff',
};
const ADDRESSES: Readonly<Record<string, string>> = {
  '10.1.2.3': '4 0a 01 02 03',
  '10.1.2.4': '4 0a 01 02 04',
  '10.2.0.1': '4 0a 02 00 01',
  '192.0.2.1': '4 c0 00 02 01',
  '2001:db8::1': '6 2001 0db8 0000 0000 0000 0000 0000 0001',
  '2001:db8:1::1': '6 2001 0db8 0001 0000 0000 0000 0000 0001',
  '2001:db9::1': '6 2001 0db9 0000 0000 0000 0000 0000 0001',
  '::ffff:a01:203': '6 0000 0000 0000 0000 0000 ffff 0a01 0203',
};
const isIn = (block: string, address: string) => (ADDRESSES[address] ?? '').startsWith(BLOCKS[block] ?? '?');

const port = fc.constantFrom(1, 22, 80, 443, 8_080, 65_535);
const ports = fc.oneof(
  port.map(String),
  fc.array(port, { minLength: 2, maxLength: 4 }).map((list) => list.join(',')),
  fc.tuple(port, port).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
);
const direction = fc.constantFrom('in', 'out');
const rule: fc.Arbitrary<FirewallRuleBody> = fc
  .record({
    direction,
    proto: fc.constantFrom('tcp', 'udp', 'icmp', 'any'),
    port: fc.option(ports),
    source: fc.constantFrom(...Object.keys(BLOCKS)),
    action: fc.constantFrom('accept', 'drop', 'reject'),
  })
  .map((each) => (each.proto === 'tcp' || each.proto === 'udp' ? each : { ...each, port: null }));
const groups: fc.Arbitrary<Group[]> = fc.array(
  fc.record({ default_action: fc.constantFrom('drop', 'accept'), rules: fc.array(rule, { maxLength: 5 }) }),
  { maxLength: 3 },
);
const packet: fc.Arbitrary<Packet> = fc
  .record({
    direction,
    proto: fc.constantFrom('tcp', 'udp', 'icmp', 'other'),
    port,
    remote: fc.constantFrom(...Object.keys(ADDRESSES)),
  })
  .map((each) => (each.proto === 'tcp' || each.proto === 'udp' ? each : { ...each, port: null }));

test('the compiled filter matches a plain reading of the rules for every packet', () => {
  fc.assert(
    fc.property(groups, fc.array(packet, { minLength: 1, maxLength: 40 }), (written, packets) => {
      const filter = compiled(written);
      for (const each of packets) assert.equal(evaluateFilter(filter, each), referenceVerdict(written, each));
    }),
    { numRuns: PROPERTY_RUNS * 10 },
  );
});

test('a server without groups has no filter, and an empty group applies its default', () => {
  assert.equal(compiled([]), null);
  assert.deepEqual(compiled([{ default_action: 'drop', rules: [] }]), {
    rules: [],
    defaultIn: 'drop',
    defaultOut: 'accept',
  });
});

function faultsOf(rule: Partial<FirewallRuleBody>): string[] {
  try {
    checkRule({ ...ALLOW_WEB, ...rule });
    return [];
  } catch (error) {
    return (error as InvalidRequest).items.map(({ field, issue }) => `${field} ${issue}`);
  }
}

test('a port is a single port, a list, or a range within 1 to 65535, never mixed', () => {
  for (const right of ['1', '65535', '80,443', '80,80', '1-65535', '22-22', null]) {
    assert.deepEqual(faultsOf({ port: right }), [], `${right}`);
  }
  for (const wrong of [
    '',
    '0',
    '01',
    '-1',
    '80-',
    '-80',
    '80,',
    ',80',
    '80, 443',
    ' 80',
    '80 ',
    '80\n',
    '80-90-100',
    '443-80',
    '80,90-100',
    '90-100,80',
    '1.5',
    '1e3',
    '٨٠',
    'http',
    '123456',
    '80;443',
    '0-80',
  ]) {
    assert.deepEqual(faultsOf({ port: wrong }), ['port invalid_format'], JSON.stringify(wrong));
  }
  for (const high of ['65536', '80,99999', '1-70000'])
    assert.deepEqual(faultsOf({ port: high }), ['port max']);
});

test('only tcp and udp have ports', () => {
  for (const proto of ['icmp', 'any'] as const) {
    assert.deepEqual(faultsOf({ proto }), ['port invalid_value']);
    assert.deepEqual(faultsOf({ proto, port: null }), []);
  }
});

test('a source must be a CIDR without host bits, and a note must be printable', () => {
  for (const wrong of [
    '',
    '10.0.0.1',
    '::1',
    '10.0.0.1/8',
    '2001:db8::1/64',
    '10.0.0.0/33',
    '::/129',
    '10/8',
  ]) {
    assert.deepEqual(faultsOf({ source: wrong }), ['source invalid_format'], wrong);
  }
  for (const wrong of ['a\nb', '\u0000', '\u202e'])
    assert.deepEqual(faultsOf({ note: wrong }), ['note invalid_format']);
  assert.deepEqual(faultsOf({ note: '' }), []);
  assert.deepEqual(faultsOf({ port: 'x', source: 'x', note: '\n' }).length, 3);
});
