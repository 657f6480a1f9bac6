/** QEMU's command line and the guest's seed files. No machine is started here. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  buildCommandLine,
  type CommandLine,
} from '../../../src/drivers/compute/qemu/machine/command-line.ts';
import { restartDelayS } from '../../../src/drivers/compute/qemu/machine/crashes.ts';
import { renderSeed, type Seed, withoutSecrets } from '../../../src/drivers/compute/qemu/machine/seed.ts';

const LINE: CommandLine = {
  name: 'srv/1/disk',
  accelerator: 'kvm',
  cpu: 2,
  ramMb: 2048,
  run: { qmp: '/run/q', queryQmp: '/run/l', vnc: '/run/v', pid: '/run/p' },
  disk: '/data/a,b/disk-1.qcow2',
  rescueDisk: null,
  cd: '/data/seed-1.iso',
  tap: 'sk0123456789ab',
  mac: '52:54:00:00:00:01',
};

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

/** Returns the arguments that follow each occurrence of `flag`. */
function argsAfter(line: readonly string[], flag: string): string[] {
  return line.flatMap((each, index) => (each === flag ? (line[index + 1] ?? []) : []));
}

/** Returns the devices and block nodes that are given as JSON. */
function jsonArgsAfter(line: readonly string[], flag: string): Record<string, unknown>[] {
  return argsAfter(line, flag)
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text));
}

describe("QEMU's command line", () => {
  it('the command line disables default devices and monitors and enables the sandbox', () => {
    const line = buildCommandLine(LINE);
    for (const word of ['-nodefaults', '-no-user-config', '-S', '-no-shutdown'])
      assert.ok(line.includes(word), word);
    assert.deepEqual(argsAfter(line, '-display'), ['none']);
    assert.ok(!line.some((word) => /stdio|-monitor|-gdb|-daemonize/.test(word)));
    assert.match(
      argsAfter(line, '-sandbox')[0] ?? '',
      /^on,.*elevateprivileges=deny,spawn=deny,resourcecontrol=deny$/,
    );
  });

  it('the CPU is the host’s with KVM, and one with all features without', () => {
    assert.deepEqual(argsAfter(buildCommandLine(LINE), '-cpu'), ['host']);
    assert.deepEqual(argsAfter(buildCommandLine({ ...LINE, accelerator: 'tcg' }), '-cpu'), ['max']);
  });

  it('the disk boots before the CD, and a rescue disk boots before both', () => {
    const order = (line: CommandLine) =>
      jsonArgsAfter(buildCommandLine(line), '-device')
        .filter(({ bootindex }) => bootindex !== undefined)
        .toSorted((a, b) => Number(a.bootindex) - Number(b.bootindex))
        .map(({ drive }) => drive);
    assert.deepEqual(order(LINE), ['disk', 'cd']);
    assert.deepEqual(order({ ...LINE, rescueDisk: '/data/rescue.qcow2' }), ['rescue', 'disk', 'cd']);
    assert.deepEqual(order({ ...LINE, cd: null }), ['disk']);
  });

  it('every device has its own PCI slot below 0x10, which leaves the others to volumes', () => {
    const line = buildCommandLine({ ...LINE, rescueDisk: '/data/rescue.qcow2' });
    const places = argsAfter(line, '-device').flatMap(
      (text) => /addr"?[=:]"?(0x[0-9a-f]+)/.exec(text)?.[1] ?? [],
    );
    assert.equal(new Set(places).size, places.length);
    assert.ok(places.length >= 6 && places.every((place) => Number(place) < 0x10), places.join(' '));
  });

  it('a path with a comma is passed unchanged', () => {
    assert.ok(argsAfter(buildCommandLine(LINE), '-blockdev')[0]?.includes(JSON.stringify(LINE.disk)));
  });
});

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

describe('restarts of a crashing machine', () => {
  it('the restart delay doubles up to five minutes', () => {
    assert.deepEqual([1, 2, 3, 4, 7, 50].map(restartDelayS), [5, 10, 20, 40, 300, 300]);
  });
});
