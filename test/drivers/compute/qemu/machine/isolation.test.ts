/** The tests act as a guest that took over its QEMU. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import {
  GUEST_UIDS,
  readBackingImage,
  UPLOADS_GID,
} from '../../../../../src/drivers/compute/qemu/machine/isolation.ts';
import { isolationCommand } from '../../../../../src/drivers/compute/qemu/namespace.ts';
import { readCarriers } from '../../../../../src/drivers/compute/qemu/net/link.ts';
import { plugNetwork } from '../../../../../src/drivers/compute/qemu/net/network.ts';
import { resizeDisk } from '../../../../../src/drivers/compute/qemu/qcow2.ts';
import { Qmp } from '../../../../../src/drivers/compute/qemu/qmp.ts';
import { readRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import { ContractFixture, failsAs } from '../../compute-world.ts';
import { executeQmp } from '../support/machine-helpers.ts';
import { type QemuWorld, qemuWorld, REAL_MACHINES } from '../support/qemu-world.ts';

const STATUS = /^(?:Uid|Gid|Groups|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):[ \t]*(.*)$/gm;

describe('the isolation of a machine', REAL_MACHINES, () => {
  let world: QemuWorld;
  const bench = new ContractFixture();
  let one: string;
  let two: string;
  before(async () => {
    world = await qemuWorld();
    await bench.open(async () => world);
    // All tests of this file share them, so they are removed with the world.
    const stay = { after: () => undefined };
    [one, two] = (await Promise.all([bench.startMachine(stay), bench.startMachine(stay)])).map(
      (spec) => spec.id,
    ) as [string, string];
  });
  after(() => world?.close());

  const pidOf = async (id: string) =>
    Number(await readFile(world.host.layout.runtimeFile(id, 'pid'), 'utf8'));
  const uidOf = async (id: string) => (await stat(world.host.layout.disk(id, 1))).uid;

  /** Runs a shell command as the user of the machine's QEMU, in its namespaces. Returns what it printed. */
  async function runAs(id: string, script: string): Promise<string> {
    const user = String(await uidOf(id));
    const into = ['--target', String(await pidOf(id)), '--mount', '--net', '--ipc', '--root', '--wd'];
    const become = ['--setuid', user, '--setgid', user];
    const bash = ['bash', '--norc', '-c', `{ ${script}; } 2>&1 || true`];
    return await run('nsenter', [...into, ...become, '--', ...bash]);
  }
  const canRead = async (id: string, path: string) =>
    (await runAs(id, `head -c 1 '${path}' >/dev/null && echo yes`)).trim() === 'yes';

  it('each QEMU has a user of its own, no capabilities, and a system call filter', async () => {
    const uids = [await uidOf(one), await uidOf(two)];
    assert.notEqual(uids[0], uids[1]);
    for (const [index, id] of [one, two].entries()) {
      const uid = uids[index] ?? 0;
      assert.ok(uid >= GUEST_UIDS.first && uid <= GUEST_UIDS.last, String(uid));
      const status = await readFile(`/proc/${await pidOf(id)}/status`, 'utf8');
      const values = [...status.matchAll(STATUS)].map(([, value]) => value?.trim());
      const ids = Array.from({ length: 4 }, () => uid).join('\t');
      const none = '0000000000000000';
      assert.deepEqual(values, [ids, ids, String(UPLOADS_GID), none, none, none, none, '1', '2']);
    }
  });

  it('a QEMU finds no file but programs, its devices, its image, and its own disk and seed', async () => {
    const { layout } = world.host;
    const key = join(layout.dir, 'service.key');
    await writeFile(key, 'readable by everyone\n', { mode: 0o644 });
    for (const path of [
      layout.disk(one, 1),
      layout.machine(one, 'seed-1.iso'),
      layout.image(world.base.sha256),
    ])
      assert.ok(await canRead(one, path), path);
    for (const path of [
      ...[layout.disk(two, 1), layout.machine(two, 'machine.json'), layout.machine(one, 'machine.json')],
      ...[layout.runtimeFile(two, 'qmp'), key, import.meta.filename, process.execPath],
      ...['/etc/shadow', '/etc/passwd', '/proc/1/environ', '/proc/self/mem', '/sys/kernel', '/tmp', '/root'],
      ...['/dev/kmsg', '/dev/mem', '/run/netns', '/var/lib'],
    ])
      assert.equal(await canRead(one, path), false, path);
    const lists = await runAs(
      one,
      `cd / && echo * && echo /dev/* /dev/net/* && echo '${layout.machines()}'/*`,
    );
    assert.deepEqual(lists.trim().split('\n').slice(1), [
      '/dev/net /dev/null /dev/urandom /dev/zero /dev/net/tun',
      layout.machine(one),
    ]);
    assert.doesNotMatch(lists, /boot|home|opt|proc|srv|sys\b/);
  });

  it('a QEMU can write only to its own disk', async () => {
    const { layout } = world.host;
    const writable = async (path: string) =>
      (await runAs(one, `: >> '${path}' && echo yes`)).trim().endsWith('yes');
    assert.ok(await writable(layout.disk(one, 1)));
    for (const path of [
      ...[layout.image(world.base.sha256), layout.machine(one, 'new'), layout.machine(one, 'qemu.log')],
      ...[layout.runtimeFile(one, 'pid').replace(/pid$/, 'new'), '/new', '/dev/new', '/usr/bin/new'],
      ...[join(layout.volumes(), 'new'), join(layout.snapshots(), 'new')],
    ])
      assert.equal(await writable(path), false, path);
  });

  it('a QEMU cannot signal another, gain privileges, or open a connection of its own', async () => {
    const other = await pidOf(two);
    assert.match(await runAs(one, `kill -0 ${other}`), /not permitted/);
    assert.match(
      await runAs(one, 'mknod /dev/sda b 8 0; mount -t proc proc /usr'),
      /Read-only file system\n.*must be superuser/,
    );
    // The peer is outside, and nothing listens: a packet that leaves is answered with a reset.
    const connects = (address: string) =>
      runAs(one, `timeout 5 bash -c 'exec 3<>/dev/tcp/${address}/9' && echo connected`);
    for (const address of ['198.51.100.7', '2001:db8:ffff::9', '127.0.0.1'])
      assert.match(await connects(address), /No route|prohibited|Permission denied/, address);
    const connect = ['--norc', '-c', 'exec 3<>/dev/tcp/127.0.0.1/9 || true'];
    assert.match(await world.net.runInRouter('bash', connect), /^$/);
  });

  it('volumes and snapshots are open to their machine only, and only while it uses them', async () => {
    const { layout } = world.host;
    const volume = layout.volume('vol-isolated', 'qcow2');
    await world.driver.attach(one, { id: 'vol-isolated', sizeGb: 1, device: '/dev/vdb' });
    assert.deepEqual([await canRead(one, volume), await canRead(two, volume)], [true, false]);
    await world.eventually(async () => {
      await world.driver.detach('vol-isolated');
      return true;
    });
    assert.deepEqual([await canRead(one, volume), (await stat(volume)).uid], [false, 0]);
    assert.equal((await stat(volume)).nlink, 1);
    await world.eventually(async () => (await world.driver.snapshot(one, 'snap-isolated')).state === 'ready');
    const snapshot = layout.snapshot('snap-isolated', 'qcow2');
    assert.deepEqual([await canRead(one, snapshot), (await stat(snapshot)).uid], [false, 0]);
    assert.equal((await stat(snapshot)).nlink, 1);
    for (const remove of [
      () => world.driver.removeVolume('vol-isolated'),
      () => world.driver.removeSnapshot('snap-isolated'),
    ])
      await remove();
  });

  it('an uploaded ISO becomes readable only for the group of the QEMUs', async (t) => {
    const upload = join(world.host.layout.dir, 'upload');
    await copyFile(world.tiny.iso, upload);
    // An earlier version let everyone read it.
    for (const mode of [0o600, 0o644]) {
      const id = bench.newMachineId(t);
      await chmod(upload, mode);
      const iso = { path: upload, sha256: '0'.repeat(64) };
      const image = { id: 'img_own', family: 'own', version: '1', cloudInit: false, iso, base: null };
      await world.driver.ensure(bench.spec({ id, image, diskGb: 1 }));
      const file = await stat(upload);
      assert.deepEqual([file.uid, file.gid, file.mode & 0o777], [0, UPLOADS_GID, 0o640]);
      assert.equal((await stat(world.host.layout.machine(id, 'cd-1.iso'))).ino, file.ino, 'a hard link');
      const status = await readFile(`/proc/${await pidOf(id)}/status`, 'utf8');
      assert.equal(/^Groups:\s(\d+) *$/m.exec(status)?.[1], String(UPLOADS_GID));
      // Only a guest that booted from the CD reacts to the power button.
      await world.eventually(async () => {
        await world.driver.power(id, 'acpi');
        return (await world.driver.observe([id]))[0]?.state === 'stopped';
      });
    }
  });

  it('QEMU itself cannot open a file of another machine, or replace its sockets', async () => {
    const qmp = (await Qmp.open(world.host.layout.runtimeFile(one, 'qmp'))) ?? assert.fail('it is off');
    try {
      for (const filename of [world.host.layout.disk(two, 1), '/etc/shadow']) {
        const node = { driver: 'file', 'node-name': 'stolen', filename, 'read-only': true };
        await assert.rejects(qmp.execute('blockdev-add', node), /No such file/);
      }
    } finally {
      qmp.close();
    }
    const folder = await stat(join(world.host.layout.runtimeFile(one, 'qmp'), '..'));
    assert.deepEqual([folder.uid, folder.mode & 0o777], [0, 0o700]);
  });

  it('a QEMU that an earlier version started as root keeps running and is supervised', async () => {
    const record = (await readRecord(world.host.layout, two)) ?? assert.fail('no record');
    const before = await pidOf(two);
    const args = (await readFile(`/proc/${before}/cmdline`, 'utf8')).split('\0').slice(0, -1);
    process.kill(before, 'SIGKILL');
    await world.eventually(async () => !existsSync(`/proc/${before}/exe`));
    const tap = world.host.tap(two);
    await world.net.runInRouter('ip', ['link', 'delete', 'dev', tap]);
    await plugNetwork(world.host, record, { uid: 0 });
    const asRoot = [
      'setpriv',
      '--bounding-set=-all,+dac_override',
      '--inh-caps=-all',
      '--no-new-privs',
      '--',
    ];
    const [program = '', ...words] = world.host.inNet('setpriv', [...asRoot.slice(1), ...args]);
    spawn(program, words, { detached: true, stdio: 'ignore' }).unref();
    await world.eventually(async () => {
      await executeQmp(world, two, 'cont', {});
      return true;
    });
    const root = await pidOf(two);
    assert.equal((await stat(`/proc/${root}`)).uid, 0);
    await world.sshWithRetry(two, 'true');
    assert.deepEqual(await world.driver.superviseMachines(), []);
    await world.driver.attach(two, { id: 'vol-old', sizeGb: 1, device: '/dev/vdb' });
    await world.sshWithRetry(two, 'test -b /dev/vdb');
    await world.net.runInRouter('ip', ['link', 'delete', 'dev', tap]);
    const [{ message } = { message: '' }] = await world.driver.superviseMachines();
    assert.match(message, /^its network interface had been deleted; it was restored/);
    await world.eventually(async () => (await readCarriers(world.host)).get(tap) === true);
    assert.equal(await pidOf(two), root);
    // Its next start isolates it.
    await world.driver.power(two, 'off');
    await world.driver.power(two, 'on');
    await world.sshWithRetry(two, 'test -b /dev/vdb');
    assert.equal((await stat(`/proc/${await pidOf(two)}`)).uid, await uidOf(two));
  });

  it('a disk that refers to a file that is not an image is refused', async () => {
    const path = join(world.host.layout.dir, 'forged.qcow2');
    const create = ['create', '-q', '-f', 'qcow2', '-u', '-b', '/etc/shadow', '-F', 'raw', path, '1M'];
    await run('qemu-img', create);
    await failsAs('host', readBackingImage(world.host, path));
  });

  it('enlarging a disk does not touch a file that its header names', async () => {
    const [disk, victim] = ['volume.qcow2', 'victim'].map((name) => join(world.host.layout.dir, name)) as [
      string,
      string,
    ];
    const options = ['-o', `data_file=${victim},data_file_raw=on`];
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', ...options, disk, '1M']);
    await writeFile(victim, 'of the host\n');
    await assert.rejects(resizeDisk(world.host, disk, 1), /Could not open|No such file/);
    assert.equal(await readFile(victim, 'utf8'), 'of the host\n');
  });

  it('the program of a machine that emulates nothing finds /dev/kvm in its namespace', async () => {
    const { layout } = world.host;
    const mounts = ['/usr', '/bin', '/lib', '/lib64'].map(
      (path) => ({ mode: 'ro', from: path, to: path }) as const,
    );
    const uid = GUEST_UIDS.last;
    const isolation = { root: layout.emptyRoot(), uid, mounts, devices: ['null', 'kvm'] } as const;
    const [program = '', ...words] = isolationCommand(isolation);
    const said = await run(program, [...words, 'ls', '-l', '/dev']);
    assert.match(said, /crw-rw-rw- .* 10, 232 .* kvm$/m);
  });
});
