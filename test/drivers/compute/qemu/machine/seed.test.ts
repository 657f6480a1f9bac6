import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  renderSeed,
  type Seed,
  withoutSecrets,
} from '../../../../../src/drivers/compute/qemu/machine/seed.ts';

const HASH = '$6$salt$hash';
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhY "me": a name';
const SEED: Seed = {
  instanceId: 'srv-1',
  hostname: 'web-1.example',
  sshKeys: [KEY],
  rootPasswordHash: HASH,
  userData: new Uint8Array([0x23, 0x21, 0xff, 0x00, 0x0a]),
  addresses: {
    mac: '52:54:00:00:00:01',
    ipv4: { address: '192.0.2.10', gateway: '192.0.2.1' },
    ipv6: { address: '2001:db8:0:10::1', prefix: '2001:db8:0:10::/64' },
  },
};

describe("a guest's seed", () => {
  it('user data is passed byte for byte, next to keys and password', () => {
    const texts = renderSeed(SEED);
    assert.deepEqual(texts['user-data'], SEED.userData);
    assert.ok(String(texts['meta-data']).includes(`  - ${JSON.stringify(KEY)}\n`));
    assert.ok(String(texts['vendor-data']).includes(`password: "${HASH}"\n      type: hash\n`));
  });

  it('the gateway is on-link, in options that every network renderer supports', () => {
    const text = String(renderSeed(SEED)['network-config']);
    assert.match(text, /- to: "0\.0\.0\.0\/0"\n +via: "192\.0\.2\.1"\n +on-link: true\n/);
    assert.match(text, /- to: "::\/0"\n +via: "fe80::1"\n +on-link: true\n/);
    assert.ok(text.includes('"192.0.2.10/32"') && text.includes('"2001:db8:0:10::1/64"'));
  });

  it('the seed of a finished install is the same instance without secrets', () => {
    const [before, done] = [renderSeed(SEED), renderSeed(withoutSecrets(SEED))];
    assert.equal(done['network-config'], before['network-config']);
    assert.equal(done['meta-data'], 'instance-id: "srv-1"\nlocal-hostname: "web-1.example"\n');
    assert.equal(done['user-data'], '');
    assert.ok(!String(done['vendor-data']).includes('$6$'));
    // This user data is a script, which may have set a host name.
    assert.match(String(done['vendor-data']), /^preserve_hostname: true$/m);
    const none = String(renderSeed(withoutSecrets({ ...SEED, userData: null }))['vendor-data']);
    assert.doesNotMatch(none, /preserve_hostname/);
  });

  it('the seed of a finished install keeps what cloud-init acts on at every boot, and nothing else', () => {
    const keptOf = (text: string) => {
      const done = renderSeed(withoutSecrets({ ...SEED, userData: Buffer.from(text) }));
      assert.equal(
        /preserve_hostname/.test(String(done['vendor-data'])),
        done['user-data'] === '' && !/: x/.test(text),
      );
      const [head, json, ...rest] = String(done['user-data']).split('\n');
      return head === '' ? null : [head, JSON.parse(json ?? ''), ...rest];
    };
    const secrets =
      'password: not-for-us\nbootcmd: [echo not-for-us]\nwrite_files: [{content: not-for-us}]\n';
    const own = 'hostname: mine\nfqdn: mine.example\nmanage_etc_hosts: no\ngrowpart: {mode: off}\n';
    const kept = {
      hostname: 'mine',
      fqdn: 'mine.example',
      manage_etc_hosts: false,
      growpart: { mode: false },
    };
    assert.deepEqual(keptOf(`#cloud-config\n${own}${secrets}`), ['#cloud-config', kept, '']);
    // Values that are not what the option takes may be secrets.
    for (const odd of [
      'hostname: "a b"',
      'manage_etc_hosts: not-for-us',
      'growpart: {mode: auto, note: not-for-us}',
    ])
      assert.equal(keptOf(`#cloud-config\n${odd}\nother: x\n`), null, odd);
    for (const other of [
      '#!/bin/sh\nhostname: mine',
      '## template: jinja\n#cloud-config\nhostname: mine',
      '#cloud-config\n[a',
    ])
      assert.equal(keptOf(other), null, other);
  });

  it('a restored guest only takes its new addresses', () => {
    const texts = renderSeed({ ...withoutSecrets(SEED), hostname: null });
    assert.equal(texts['meta-data'], 'instance-id: "srv-1"\n');
    assert.match(String(texts['vendor-data']), /^preserve_hostname: true\nssh_deletekeys: false$/m);
  });

  it('the vendor data is one cloud-config without a password and two parts with one', () => {
    assert.match(String(renderSeed({ ...SEED, rootPasswordHash: null })['vendor-data']), /^#cloud-config\n/);
    const parts = String(renderSeed(SEED)['vendor-data']).match(/^Content-Type: text\/[a-z-]+/gm);
    assert.deepEqual(parts, ['Content-Type: text/cloud-config', 'Content-Type: text/x-shellscript']);
  });
});
