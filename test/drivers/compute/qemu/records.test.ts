/** The driver's records, and how it handles damaged ones. No machine is started here. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../../src/drivers/compute/qemu/command.ts';
import { openQemuCompute } from '../../../../src/drivers/compute/qemu/driver.ts';
import { DiskFullError, writeJson } from '../../../../src/drivers/compute/qemu/files.ts';
import { QemuHost } from '../../../../src/drivers/compute/qemu/host.ts';
import { removePreviousDisks } from '../../../../src/drivers/compute/qemu/machine/disks.ts';
import { toStoredSpec } from '../../../../src/drivers/compute/qemu/machine/install.ts';
import { type MachineRecord, readRecord, writeRecord } from '../../../../src/drivers/compute/qemu/record.ts';
import { ensureReserve } from '../../../../src/drivers/compute/qemu/space.ts';
import { stopCopies } from '../../../../src/drivers/compute/qemu/storage/background-copy.ts';
import { listSnapshotsInProgress } from '../../../../src/drivers/compute/qemu/storage/snapshot-record.ts';
import {
  listVolumesOf,
  readVolume,
  writeVolume,
} from '../../../../src/drivers/compute/qemu/storage/volume-record.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import { findProgram } from '../../../support/installed-programs.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../../../support/runs.ts';
import { machineSpec } from '../compute-world.ts';
import { NetFixture } from './support/net-fixture.ts';

const missing = ['ip', 'flock'].find((name) => !findProgram([name])) ?? false;

function createHost(dir: string, netns: string | null = null): QemuHost {
  return new QemuHost({ dir, hosts: ['one'], accelerator: 'tcg', netns, log: createLogger('silent') });
}

/** Writes the record and disk of a machine that is off. */
async function writeStoppedMachine(
  host: QemuHost,
  id: string,
  wanted: Partial<MachineRecord> = {},
): Promise<MachineRecord> {
  const record: MachineRecord = {
    spec: toStoredSpec(machineSpec({ id, host: 'one' })),
    generation: 2,
    power: 'off',
    installingSince: null,
    answersSince: null,
    rescue: null,
    filter: null,
    traffic: { bitsPerS: null, mail: false },
    ...wanted,
  };
  await mkdir(host.layout.machine(id), { recursive: true });
  await writeFile(host.layout.disk(id, 2), 'a disk');
  await writeRecord(host.layout, record);
  return record;
}

describe('records of machines and volumes', () => {
  let dir: string;
  let host: QemuHost;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'skerry-records-'));
    host = createHost(dir);
  });
  after(() => rm(dir, { recursive: true, force: true }));
  const damage = async (id: string, text: string) => {
    await mkdir(host.layout.machine(id), { recursive: true });
    await writeFile(host.layout.machine(id, 'machine.json'), text);
  };

  it('a damaged record or an invalid name does not affect other machines', { skip: missing }, async () => {
    const driver = openQemuCompute(host.options);
    const good = await writeStoppedMachine(host, 'good');
    for (const name of ['lost+found', '.trash', 'good~']) {
      await mkdir(join(host.layout.machines(), name));
      await writeJson(join(host.layout.machines(), name, 'machine.json'), good);
    }
    await writeFile(join(host.layout.machines(), 'a file'), '');
    await mkdir(host.layout.machine('never begun'));
    const bad = {
      'bad-empty': '',
      'bad-half': '{"spec":',
      'bad-null': 'null',
      'bad-other': JSON.stringify(good),
    };
    for (const [id, text] of Object.entries(bad)) await damage(id, text);
    const ids = [...Object.keys(bad), 'good'];
    assert.deepEqual(await driver.list(), ids);
    const seen = await driver.observe([...ids, 'never begun']);
    const states = seen.map(({ state }) => state);
    assert.deepEqual(states, ['unknown', 'unknown', 'unknown', 'unknown', 'stopped', 'absent']);
    const tended = await driver.superviseMachines();
    assert.deepEqual(
      tended.map(({ id, outcome }) => [id, outcome]),
      Object.keys(bad).map((id) => [id, 'failed']),
    );
    for (const { id, message } of tended)
      assert.match(message, new RegExp(`${id}/machine\\.json is damaged`));
    assert.deepEqual(await driver.sample(ids, new Date()), []);
  });

  it('a machine with the address or the /64 of another is refused', { skip: missing }, async () => {
    const driver = openQemuCompute(host.options);
    const { spec } = await writeStoppedMachine(host, 'unknown to its service');
    await damage('another', '{');
    const iso = { path: join(dir, 'own.iso'), sha256: '0'.repeat(64) };
    await writeFile(iso.path, '');
    const wanted = machineSpec({ id: 'new', host: 'one', image: { ...spec.image, cloudInit: false, iso } });
    const { ipv4, ipv6 } = spec;
    for (const taken of [{ ipv4 }, { ipv6 }]) {
      const message = /another machine on this host has its IPv4 address or its \/64/;
      await assert.rejects(driver.ensure({ ...wanted, ...taken }), { fault: 'host', message });
      assert.ok(!existsSync(host.layout.machine('new')));
    }
    // A spec that passes the address check is not created either.
    await rm(iso.path);
    await assert.rejects(driver.ensure(wanted), { fault: 'refused', message: /image is not on this host/ });
  });

  it('volumes and snapshots are found next to damaged ones', async () => {
    const { layout } = host;
    await writeVolume(layout, {
      id: 'vol',
      sizeGb: 1,
      machineId: 'good',
      device: '/dev/vdb',
      leaving: false,
    });
    await mkdir(layout.snapshots());
    for (const folder of [layout.volumes(), layout.snapshots()]) {
      await writeFile(join(folder, 'bad.json'), '{');
      await writeFile(join(folder, 'empty.json'), '');
      await mkdir(join(folder, 'folder.json'));
      await mkdir(join(folder, 'lost+found'));
    }
    await writeJson(layout.snapshot('snap', 'json'), { id: 'snap', machineId: 'good', state: 'creating' });
    assert.deepEqual(
      (await listVolumesOf(host, 'good')).map(({ id }) => id),
      ['vol'],
    );
    assert.deepEqual(
      (await listSnapshotsInProgress(host, 'good')).map(({ id }) => id),
      ['snap'],
    );
    await assert.rejects(readVolume(layout, 'bad'), /volumes\/bad\.json is damaged/);
  });

  it('abandoned copies are deleted, except the copy that continues', async () => {
    const record = await writeStoppedMachine(host, 'copies');
    const { layout } = host;
    const [before, wanted, other] = [
      layout.diskCopy('copies', 2, 'a'),
      layout.diskCopy('copies', 3, 'a'),
      layout.diskCopy('copies', 3, 'b'),
    ];
    const files = async () =>
      (await readdir(layout.machine('copies'))).map((name) => layout.machine('copies', name));
    const kept = [layout.disk('copies', 2), layout.machine('copies', 'machine.json')];
    for (const path of [before, `${wanted}.part`, other, `${other}.part`, `${other}.failed`])
      await writeFile(path, '');
    await removePreviousDisks(host, record);
    assert.ok(!(await files()).includes(before));
    await stopCopies(layout.machine('copies'), wanted);
    assert.deepEqual((await files()).sort(), [`${wanted}.part`, ...kept].sort());
    await stopCopies(layout.machine('copies'));
    assert.deepEqual((await files()).sort(), kept.sort());
  });
});

const CANNOT_MOUNT = IS_FULL_RUN ? process.getuid?.() !== 0 && 'mounting needs root' : FULL_ONLY.skip;

describe('a full host disk', { skip: CANNOT_MOUNT }, () => {
  let dir: string;
  let host: QemuHost;
  let net: NetFixture;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'skerry-full-'));
    await run('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'skerry-test', dir]);
    net = await NetFixture.open();
    host = createHost(dir, net.router);
  });
  after(async () => {
    await net?.close();
    await run('umount', [dir]);
    await rm(dir, { recursive: true });
  });
  const fill = async () => {
    const full = (error: NodeJS.ErrnoException) => assert.equal(error.code, 'ENOSPC');
    const path = join(dir, 'guests');
    for (const bytes of [1024 ** 2, 4096]) {
      for (let more = true; more; ) {
        await appendFile(path, Buffer.alloc(bytes, 1)).catch((error) => {
          full(error);
          more = false;
        });
      }
    }
  };
  /** Starts a process whose command line looks like the machine's QEMU. */
  const pretend = (id: string) => {
    const words = ['-c', 'read never', 'sh', `unix:${host.layout.runtimeFile(id, 'qmp')},server=on,wait=off`];
    const child = spawn('sh', words, { stdio: ['pipe', 'ignore', 'ignore'] });
    return { child, ended: once(child, 'exit') };
  };

  it('with a reserve, machines can be powered off on a full disk and stay off', async () => {
    const driver = openQemuCompute(host.options);
    await ensureReserve(host.layout);
    for (const id of ['first', 'second']) await writeStoppedMachine(host, id, { power: 'on' });
    await fill();
    await assert.rejects(writeJson(join(dir, 'else'), {}), DiskFullError);
    for (const id of ['first', 'second']) await driver.power(id, 'off');
    assert.equal((await readRecord(host.layout, 'second'))?.power, 'off');
    for (const id of ['first', 'second']) await driver.remove(id);
    assert.deepEqual(await driver.list(), []);
  });

  it('without a reserve, a process is still ended and a machine can still be removed', async () => {
    const driver = openQemuCompute(host.options);
    await rm(join(dir, 'guests'));
    await rm(join(dir, 'reserve'));
    await writeStoppedMachine(host, 'full', { power: 'on' });
    await writeVolume(host.layout, {
      id: 'vol',
      sizeGb: 1,
      machineId: 'full',
      device: '/dev/vdb',
      leaving: false,
    });
    await fill();
    const { child, ended } = pretend('full');
    await assert.rejects(driver.power('full', 'off'), DiskFullError);
    await ended;
    assert.equal(child.signalCode, 'SIGKILL');
    await driver.remove('full');
    assert.ok(!existsSync(host.layout.machine('full')));
    assert.equal((await readVolume(host.layout, 'vol'))?.machineId, null);
  });
});
