/** Files of volumes and snapshots, and when the driver refuses them. No machine is started here. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { openQemuCompute, type QemuCompute } from '../../../../../src/drivers/compute/qemu/driver.ts';
import { checkCapacity } from '../../../../../src/drivers/compute/qemu/examine/system.ts';
import { QemuHost, volumeSerial } from '../../../../../src/drivers/compute/qemu/host.ts';
import { toStoredSpec } from '../../../../../src/drivers/compute/qemu/machine/install.ts';
import { writeRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import {
  copyInBackground,
  stopCopies,
} from '../../../../../src/drivers/compute/qemu/storage/background-copy.ts';
import { readVolume, writeVolume } from '../../../../../src/drivers/compute/qemu/storage/volume-record.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import { findProgram } from '../../../../support/installed-programs.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../../../../support/runs.ts';
import { failsAs, machineSpec } from '../../compute-world.ts';

/** The machines' sockets are in /run, and guests are waited for in real time. */
const CANNOT_PRETEND = {
  skip: IS_FULL_RUN ? process.getuid?.() !== 0 && 'sockets in /run need root' : FULL_ONLY.skip,
};
const missing = ['qemu-img', 'flock'].find((name) => !findProgram([name])) ?? false;

describe('files of volumes and snapshots', { skip: missing }, () => {
  let dir: string;
  let host: QemuHost;
  let driver: QemuCompute;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'skerry-storage-'));
    host = new QemuHost({
      ...{ dir, hosts: ['one'], accelerator: 'tcg', netns: null },
      log: createLogger('silent'),
    });
    driver = openQemuCompute(host.options);
    await keep('off');
  });
  after(() => rm(dir, { recursive: true, force: true }));

  /** Writes the record of a machine that is off. */
  const keep = async (id: string) => {
    await mkdir(host.layout.machine(id), { recursive: true });
    await writeRecord(host.layout, {
      spec: toStoredSpec(machineSpec({ id, host: 'one' })),
      generation: 1,
      power: 'off',
      installingSince: null,
      answersSince: null,
      rescue: null,
      filter: null,
      traffic: { bitsPerS: null, mail: false },
    });
  };

  /**
   * Pretends to be a QEMU whose guest keeps the volume. Returns how many times it was asked to release it.
   */
  const pretendToKeep = async (t: TestContext, volumeId: string) => {
    const path = host.layout.runtimeFile('off', 'qmp');
    await mkdir(dirname(path), { recursive: true });
    let asked = 0;
    const server = createServer((client) => {
      client
        .on('error', () => undefined)
        .on('data', (line) => {
          const { execute } = JSON.parse(String(line)) as { readonly execute: string };
          if (execute === 'device_del') asked += 1;
          const devices = [{ name: `dev-vol-${volumeSerial(volumeId)}` }];
          client.write(`${JSON.stringify({ return: execute === 'qom-list' ? devices : {} })}\n`);
        });
    }).listen(path);
    await once(server, 'listening');
    t.after(async () => {
      server.close();
      await rm(host.layout.runDir, { recursive: true, force: true });
    });
    return () => asked;
  };

  it('a volume whose file is lost is not recreated, attached or detached', async () => {
    const volume = { id: 'lost', sizeGb: 1, device: '/dev/vdb' };
    const file = host.layout.volume('lost', 'qcow2');
    await driver.attach('off', volume);
    await rm(file);
    await failsAs('host', driver.attach('off', volume));
    await failsAs('host', driver.grow('lost', 2));
    await driver.detach('lost');
    await failsAs('host', driver.grow('lost', 3));
    await failsAs('host', driver.attach('off', volume));
    assert.ok(!existsSync(file));
    await driver.removeVolume('lost');
    await driver.attach('off', volume);
    assert.ok(existsSync(file));
    await driver.removeVolume('lost');
  });

  it('a volume of an older version counts as created once its file was seen', async () => {
    const volume = { id: 'older', sizeGb: 1, device: '/dev/vdb' };
    const file = host.layout.volume('older', 'qcow2');
    await driver.attach('off', volume);
    const { made: _, ...older } = (await readVolume(host.layout, 'older')) ?? assert.fail('no record');
    await writeVolume(host.layout, older);
    await driver.attach('off', volume);
    await rm(file);
    await failsAs('host', driver.attach('off', volume));
    await driver.removeVolume('older');
  });

  it('a guest that keeps its volume is waited for once and then only checked', CANNOT_PRETEND, async (t) => {
    await driver.attach('off', { id: 'kept', sizeGb: 1, device: '/dev/vdb' });
    const asked = await pretendToKeep(t, 'kept');
    await failsAs('transient', driver.detach('kept'));
    const before = asked();
    await failsAs('transient', driver.detach('kept'));
    assert.deepEqual([before, asked() - before], [5, 1]);
  });

  it('doctor fails if the whole disk is promised, so that no space is left for snapshots', async () => {
    const { blocks, bsize } = await statfs(dir);
    const hasGb = Math.floor((blocks * bsize) / 1024 ** 3);
    const found = async (diskGb: number) =>
      (await checkCapacity(host, { ramMb: 0, diskGb, unusedAddresses: [] })).map(({ level }) => level);
    assert.deepEqual([await found(hasGb), await found(0)], [['fail'], []]);
  });

  it('a power action ends the copy of an abandoned restore', async (t) => {
    t.after(() => stopCopies(host.layout.machine('off')));
    const [from, to] = [join(dir, 'snapshot'), host.layout.diskCopy('off', 2, 'given up')];
    // Nothing writes to the pipe, so the copy never finishes.
    await run('mkfifo', [from]);
    assert.equal(await copyInBackground(host, { from, to, diskGb: null }, 0), 'copying');
    await driver.power('off', 'off');
    assert.deepEqual(await readdir(host.layout.machine('off')), ['machine.json']);
  });
});
