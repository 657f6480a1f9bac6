import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machineChains } from '../../../../../src/drivers/compute/qemu/net/chains.ts';
import { machineRules, removeMachineRules } from '../../../../../src/drivers/compute/qemu/net/ruleset.ts';

describe('machineRules', () => {
  const wire = {
    tap: 'skabc',
    mac: '52:54:00:00:00:01',
    ipv4: { address: '192.0.2.5', gateway: '192.0.2.1' },
    ipv6: { address: '2001:db8:a::1', prefix: '2001:db8:a::/64' },
  };
  const rulesWith = (mail: boolean) =>
    machineRules(wire.tap, machineChains(wire, { filter: null, traffic: { bitsPerS: null, mail } }, []));
  const rules = rulesWith(false);
  const text = rules.join('\n');

  it('every line names a table of the service', () => {
    for (const line of [...rules, ...removeMachineRules(wire.tap)]) {
      assert.match(line, /^(add|flush|delete) (table|chain|rule|set|map|element) (inet|arp) skerry\b/);
    }
  });

  it('outbound SMTP is rejected unless it is allowed', () => {
    const closed = 'leaving-skabc tcp dport 25 reject with tcp reset';
    assert.ok(text.includes(closed));
    assert.ok(!rulesWith(true).join('\n').includes(closed));
  });

  it('an IPv6 prefix is matched by its first 64 bits', () => {
    assert.ok(text.includes('@th,64,64 != 0x20010db8000a0000 @th,64,64 != 0xfe80000000000000 drop'));
    assert.ok(text.includes('@th,64,128 0xfe800000000000000000000000000001 drop'));
  });
});
