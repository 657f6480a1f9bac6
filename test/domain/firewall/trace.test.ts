import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileFilter } from '../../../src/domain/firewall/apply.ts';
import { checkRule } from '../../../src/domain/firewall/check.ts';
import { type TracedPacket, tracePacket } from '../../../src/domain/firewall/trace.ts';
import type { Filter } from '../../../src/ports/network.ts';
import type { FirewallRuleBody } from '../../../src/spec/schemas/firewall.ts';
import { evaluateFilter } from '../../drivers/compute/evaluate-filter.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';

/** A few values only, so that rules and packets often match. */
const BLOCKS = ['0.0.0.0/0', '10.0.0.0/8', '10.1.2.3/32', '::/0', '2001:db8::/32', '::ffff:0:0/96'];
const ADDRESSES = ['10.1.2.3', '10.2.0.1', '192.0.2.1', '2001:db8::1', '2001:db9::1', '::ffff:a01:203'];
const direction = fc.constantFrom('in', 'out');
const port = fc.constantFrom(22, 80, 443, 8_080);
const portText = fc.constantFrom('22', '80,443', '80-443', '1-65535');

const rule: fc.Arbitrary<FirewallRuleBody> = fc
  .record({
    direction,
    proto: fc.constantFrom('tcp', 'udp', 'icmp', 'any'),
    port: fc.option(portText),
    source: fc.constantFrom(...BLOCKS),
    action: fc.constantFrom('accept', 'drop', 'reject'),
  })
  .map((each) => (each.proto === 'tcp' || each.proto === 'udp' ? each : { ...each, port: null }));
const filter: fc.Arbitrary<Filter> = fc
  .record({ default_action: fc.constantFrom('drop', 'accept'), rules: fc.array(rule, { maxLength: 6 }) })
  .map((group) => {
    const compiled = compileFilter([{ ...group, rules: group.rules.map(checkRule) }]);
    assert.ok(compiled);
    return compiled;
  });
const packet: fc.Arbitrary<TracedPacket> = fc
  .record({
    direction,
    proto: fc.constantFrom('tcp', 'udp', 'icmp', 'other'),
    port,
    remote: fc.constantFrom(...ADDRESSES),
  })
  .map((each) => (each.proto === 'tcp' || each.proto === 'udp' ? each : { ...each, port: null }));

test('a traced packet gets the verdict of the filter that machines have', () => {
  fc.assert(
    fc.property(filter, packet, (compiled, each) => {
      assert.equal(tracePacket(compiled, each).verdict, evaluateFilter(compiled, each));
    }),
    { numRuns: PROPERTY_RUNS * 10 },
  );
});

test('a trace names the first rule that matches, or none', () => {
  fc.assert(
    fc.property(filter, packet, (compiled, each) => {
      const { rule: index, verdict } = tracePacket(compiled, each);
      const before = { ...compiled, rules: compiled.rules.slice(0, index ?? undefined) };
      assert.equal(tracePacket(before, each).rule, null);
      if (index !== null) assert.equal(compiled.rules[index]?.action, verdict);
    }),
    { numRuns: PROPERTY_RUNS * 10 },
  );
});
