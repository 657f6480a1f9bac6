import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPrivateHost } from '../../src/kernel/address-safety.ts';
import { ReverseZones, requiredZones, reverseName } from '../../src/kernel/reverse-zones.ts';

const V6 = '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.f.0.a.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.';
const NONE = new ReverseZones([]);
const requiredZoneNames = (block: string, zones: readonly string[] = []) =>
  requiredZones(block, new ReverseZones(zones)).map(({ zone, coveredBy }) =>
    coveredBy === null ? zone : [zone, coveredBy],
  );

test('the reverse name of an address has its parts in reverse order', () => {
  assert.equal(reverseName('203.0.113.10'), '10.113.0.203.in-addr.arpa.');
  assert.equal(reverseName('2001:db8:0:a0f::1'), V6);
});

test('an address belongs to the longest zone that matches whole labels of its name', () => {
  const zones = new ReverseZones([
    '203.in-addr.arpa.',
    '113.0.203.in-addr.arpa.',
    '3.0.203.in-addr.arpa.',
    '8.b.d.0.1.0.0.2.ip6.arpa.',
    '0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
  ]);
  assert.deepEqual(zones.find('203.0.113.10'), {
    zone: '113.0.203.in-addr.arpa.',
    name: '10.113.0.203.in-addr.arpa.',
  });
  assert.equal(zones.find('203.0.112.10')?.zone, '203.in-addr.arpa.');
  assert.equal(zones.find('198.51.100.1'), undefined);
  assert.deepEqual(zones.find('2001:db8:0:a0f::1'), { zone: '0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.', name: V6 });
  assert.equal(zones.find('2001:db8:1::1')?.zone, '8.b.d.0.1.0.0.2.ip6.arpa.');
  assert.equal(NONE.find('203.0.113.10'), undefined);
});

test('a classless zone contains the addresses in its range', () => {
  const zones = new ReverseZones([
    '113.0.203.in-addr.arpa.',
    '0-15.113.0.203.in-addr.arpa.',
    '32/28.113.0.203.in-addr.arpa.',
    '64/33.113.0.203.in-addr.arpa.',
    '200.113.0.203.in-addr.arpa.',
  ]);
  const at = (last: number) => zones.find(`203.0.113.${last}`);
  assert.deepEqual(at(15), { zone: '0-15.113.0.203.in-addr.arpa.', name: '15.0-15.113.0.203.in-addr.arpa.' });
  assert.equal(at(16)?.zone, '113.0.203.in-addr.arpa.');
  assert.equal(at(47)?.name, '47.32/28.113.0.203.in-addr.arpa.');
  assert.equal(at(48)?.zone, '113.0.203.in-addr.arpa.');
  assert.equal(at(64)?.zone, '113.0.203.in-addr.arpa.');
  assert.deepEqual(at(200), { zone: '200.113.0.203.in-addr.arpa.', name: '200.113.0.203.in-addr.arpa.' });
});

test('a block requires one zone per /24, one for a /16, and one or more for an IPv6 block', () => {
  assert.deepEqual(requiredZoneNames('203.0.112.0/23'), [
    '112.0.203.in-addr.arpa.',
    '113.0.203.in-addr.arpa.',
  ]);
  assert.deepEqual(requiredZoneNames('203.0.0.0/16'), ['0.203.in-addr.arpa.']);
  assert.deepEqual(requiredZoneNames('2001:db8:1::/48'), ['1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.']);
  assert.deepEqual(requiredZoneNames('2001:db8:1::/55'), [
    '0.0.1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
    '1.0.1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
  ]);
  assert.equal(requiredZoneNames('2001:db8::/33').length, 8);
});

test('parent zones cover a block, and child zones do if they cover all of it', () => {
  assert.deepEqual(requiredZoneNames('203.0.113.0/24', ['0.203.in-addr.arpa.']), [
    ['113.0.203.in-addr.arpa.', '0.203.in-addr.arpa.'],
  ]);
  const all = Array.from({ length: 256 }, (_, at) => `${at}.0.203.in-addr.arpa.`);
  assert.equal(requiredZoneNames('203.0.0.0/16', all).length, 256);
  assert.deepEqual(requiredZoneNames('203.0.0.0/16', all.slice(1))[0], '0.0.203.in-addr.arpa.');
  assert.deepEqual(requiredZoneNames('2001:db8:1::/55', ['8.b.d.0.1.0.0.2.ip6.arpa.']), [
    ['0.0.1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa.'],
    ['1.0.1.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa.'],
  ]);
});

test('a block smaller than a /24 has a shared zone', () => {
  assert.deepEqual(requiredZones('203.0.113.16/28', NONE), [
    { zone: '113.0.203.in-addr.arpa.', coveredBy: null, isShared: true },
  ]);
  const part = '16-31.113.0.203.in-addr.arpa.';
  assert.equal(requiredZones('203.0.113.16/28', new ReverseZones([part]))[0]?.coveredBy, part);
  assert.equal(requiredZones('203.0.113.0/27', new ReverseZones([part]))[0]?.coveredBy, null);
});

test('only this machine and private addresses count as private hosts', () => {
  for (const host of [
    'localhost',
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '[::1]',
    '[fd00::1]',
  ]) {
    assert.ok(isPrivateHost(host), host);
  }
  for (const host of ['dns.example', '172.32.0.1', '203.0.113.1', '[2001:db8::1]', 'localhost.example', '']) {
    assert.ok(!isPrivateHost(host), host);
  }
});
