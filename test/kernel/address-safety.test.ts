import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isForbiddenAddress } from '../../src/kernel/address-safety.ts';

const forbidden = (address: string, allowLoopback = false) => isForbiddenAddress(address, { allowLoopback });

const SPECIAL = [
  ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255'],
  '168.63.129.16',
  ...['127.0.0.1', '127.255.255.255', '169.254.0.0', '169.254.169.254', '172.16.0.0', '172.31.255.255'],
  ...[
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.0',
    '192.168.255.255',
    '198.18.0.1',
    '198.19.255.255',
  ],
  ...['198.51.100.7', '203.0.113.7', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::ffff:8.8.8.8', '::ffff:127.0.0.1', '::8.8.8.8', '::ffff:0:8.8.8.8', '64:ff9b::8.8.8.8'],
  ...[
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:20::1',
    '2001:db8::1',
    '2002:808:808::1',
  ],
  ...['3fff::1', '3fff:fff:ffff::1', '4000::1', '5f00::1', 'fc00::1', 'fdff::1', 'fe80::1', 'febf::1'],
  ...['fec0::1', 'ff00::1', 'ff02::1', 'ffff::1'],
];

const PUBLIC = [
  ...[
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '192.0.1.0', '192.167.255.255'],
  ...['198.17.255.255', '198.20.0.0', '223.255.255.255', '2001:200::1', '2001:4860:4860::8888', '2003::1'],
  ...['2000::1', '2a00::1', '2606:4700::1111', '3ffe::1', '3fff:1000::1'],
];

test('every special block is forbidden, including its first and last address', () => {
  assert.deepEqual(
    SPECIAL.filter((address) => !forbidden(address)),
    [],
  );
});

test('public addresses right next to special blocks are allowed', () => {
  assert.deepEqual(
    PUBLIC.filter((address) => forbidden(address)),
    [],
  );
});

test('allowLoopback allows only the addresses of this machine', () => {
  assert.deepEqual(
    SPECIAL.filter((address) => !forbidden(address, true)),
    ['127.0.0.1', '127.255.255.255', '::1'],
  );
});

test('a text that is not an address is forbidden', () => {
  for (const text of ['', 'example.com', '1.2.3', '0x7f.1', '[::1]', '::1%', '1.1.1.1 '])
    assert.ok(forbidden(text), text);
});
