/** What the driver makes of the files of volumes and snapshots, and when it refuses: no machine is started here. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../src/drivers/compute/qemu/command.ts';
import { QemuCompute } from '../../../src/drivers/compute/qemu/driver.ts';
import { QemuHost } from '../../../src/drivers/compute/qemu/host.ts';
import { keptSpec } from '../../../src/drivers/compute/qemu/machine/ensure.ts';
import { writeRecord } from '../../../src/drivers/compute/qemu/record.ts';
import { copyInBackground, stopCopies } from '../../../src/drivers/compute/qemu/storage/background-copy.ts';
import { readVolume, writeVolume } from '../../../src/drivers/compute/qemu/storage/volume-record.ts';
import { createLogger } from '../../../src/kernel/logger.ts';
import { findProgram } from '../../support/installed.ts';
import { failsAs, machineSpec } from '../compute-world.ts';

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
    driver = new QemuCompute(host.options);
    await keep('off');
  });
  after(() => rm(dir, { recursive: true, force: true }));

  /** One that is off. */
  const keep = async (id: string) => {
    await mkdir(host.layout.machine(id), { recursive: true });
    await writeRecord(host.layout, {
      spec: keptSpec(machineSpec({ id, host: 'one' })),
      generation: 1,
      power: 'off',
      installingSince: null,
      answersSince: null,
      rescue: null,
      filter: null,
      traffic: { bitsPerS: null, mail: false },
    });
  };

  it('a volume whose file is lost is not made anew, neither where it is attached nor anywhere else', async () => {
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

  it('a volume of an older version is known to have been made once its file was seen', async () => {
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

  it('a copy of a restore that was given up ends when the power of its machine is set', async (t) => {
    t.after(() => stopCopies(host, host.layout.machine('off')));
    const [from, to] = [join(dir, 'snapshot'), host.layout.diskCopy('off', 2, 'given up')];
    // Nobody writes to it, so reading it does not end.
    await run('mkfifo', [from]);
    assert.equal(await copyInBackground(host, { from, to, diskGb: null }, 0), 'copying');
    await driver.power('off', 'off');
    assert.deepEqual(await readdir(host.layout.machine('off')), ['machine.json']);
  });
});
