import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  buildCommandLine,
  type CommandLine,
} from '../../../../../src/drivers/compute/qemu/machine/command-line.ts';

const LINE: CommandLine = {
  name: 'srv/1/disk',
  accelerator: 'kvm',
  cpu: 2,
  ramMb: 2048,
  run: { qmp: '/run/q', queryQmp: '/run/l', vnc: '/run/v', pid: '/run/p' },
  disk: '/data/a,b/disk-1.qcow2',
  rescueDisk: null,
  cd: '/data/seed-1.iso',
  isoDrive: { iso: null, boots: false },
  tap: 'sk0123456789ab',
  mac: '52:54:00:00:00:01',
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

  it('the disk boots before the CD unless an ISO comes first, and a rescue disk before all', () => {
    const order = (line: CommandLine) =>
      jsonArgsAfter(buildCommandLine(line), '-device')
        .filter(({ bootindex }) => bootindex !== undefined)
        .toSorted((a, b) => Number(a.bootindex) - Number(b.bootindex))
        .map(({ id }) => String(id).slice('dev-'.length));
    assert.deepEqual(order(LINE), ['disk', 'cd', 'iso']);
    const rescueDisk = '/data/rescue.qcow2';
    assert.deepEqual(order({ ...LINE, rescueDisk }), ['rescue', 'disk', 'cd', 'iso']);
    assert.deepEqual(order({ ...LINE, cd: null }), ['disk', 'iso']);
    const isoDrive = { iso: '/data/iso-1.iso', boots: true };
    assert.deepEqual(order({ ...LINE, isoDrive }), ['iso', 'disk', 'cd']);
    assert.deepEqual(order({ ...LINE, isoDrive, rescueDisk }), ['rescue', 'disk', 'cd', 'iso']);
    assert.deepEqual(order({ ...LINE, isoDrive: null }), ['disk', 'cd']);
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
