import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireLiveSafety } from '../../src/compose/live-safety.ts';
import { loadConfig } from '../../src/config.ts';
import { KeyRing } from '../../src/kernel/secrets.ts';

const LIVE = {
  SKERRY_MODE: 'live',
  SKERRY_COMPUTE: 'qemu',
  DATABASE_URL: 'postgres://u:hunter2@db.example/skerry',
};
const start = (env: Record<string, string>) => requireLiveSafety(loadConfig({ ...LIVE, ...env }));

test('a live service refuses plain http on a public address without a trusted proxy', () => {
  for (const SKERRY_HOST of ['0.0.0.0', '::', '198.51.100.7', '2a00::1', 'skerry.example']) {
    assert.throws(() => start({ SKERRY_HOST }), { name: 'OperatorError', message: /^SKERRY_HOST: .*TLS/ });
    start({ SKERRY_HOST, SKERRY_TRUSTED_PROXIES: '10.0.0.1' });
  }
});

test('a live service without a proxy listens only where the internet does not reach', () => {
  const inside = [
    ...['127.0.0.1', '::1', 'localhost', '10.0.0.2', '172.31.0.1', '192.168.1.1', '::ffff:10.0.0.2'],
    // Carrier-grade NAT and VPNs, link-local, benchmarks.
    ...['100.64.0.1', '100.127.255.255', '::ffff:100.64.0.1', '169.254.0.5', '198.19.0.1'],
    ...['fd00::1', 'fc00::1', 'fe80::1', 'fe80::1%eth0'],
  ];
  const outside = [
    ...['100.63.255.255', '100.128.0.0', '198.20.0.1', '168.63.129.16', '::ffff:8.8.8.8', '::ffff:0.0.0.0'],
    // Documentation, protocols, multicast, reserved, 6to4, NAT64.
    ...['192.0.2.1', '203.0.113.1', '192.0.0.1', '224.0.0.1', '255.255.255.255', '2001:db8::1', '3fff::1'],
    ...['2002:a00:2::1', '64:ff9b::a00:2', '64:ff9b:1::1', 'ff02::1', '2001::1'],
  ];
  for (const SKERRY_HOST of inside) start({ SKERRY_HOST });
  for (const SKERRY_HOST of outside)
    assert.throws(() => start({ SKERRY_HOST }), /^OperatorError: SKERRY_HOST: .*TLS/, SKERRY_HOST);
});

test('a live service refuses webhook settings for tests', () => {
  assert.throws(
    () => start({ SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true' }),
    /^OperatorError: SKERRY_WEBHOOK_ALLOW/,
  );
  assert.throws(() => start({ SKERRY_WEBHOOK_CA_FILE: '/ca.pem' }), /^OperatorError: SKERRY_WEBHOOK_CA_FILE/);
});

test('a live service refuses limits of 0, and a sandbox has them by default', () => {
  for (const name of ['SIGNUPS', 'SIGNIN_FAILURES', 'TOKEN_FAILURES']) {
    const setting = `SKERRY_${name}_PER_HOUR`;
    assert.throws(() => start({ [setting]: '0' }), new RegExp(`^OperatorError: ${setting}`));
    start({ [setting]: '1' });
  }
  requireLiveSafety(loadConfig({ SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true' }));
});

test('a key list is weak if two keys are the same, or the newest is not random', () => {
  const text = (byte: number) => Buffer.alloc(32, byte).toString('base64');
  const random = KeyRing.generate().slice(3);
  const weakness = (list: string) => new KeyRing(list).weakness();
  assert.equal(weakness(`k1:${random}`), null);
  assert.equal(weakness(`k2:${random},k1:${text(7)}`), null);
  const bytes = (of: Iterable<number> | string) => Buffer.from(of as string).toString('base64');
  const counted = [...Array(32).keys()];
  for (const key of [
    text(0),
    bytes('correct horse battery staple 123'),
    bytes(counted),
    bytes(counted.reverse()),
  ]) {
    assert.match(weakness(`k1:${key}`) ?? '', /not random/, key);
  }
  assert.match(weakness(`k1:${bytes(counted.map((index) => 200 + (index % 4)))}`) ?? '', /not random/);
  assert.match(weakness(`k2:${random},k1:${random}`) ?? '', /are the same/);
});
