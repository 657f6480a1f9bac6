/**
 * Snapshots only use space that servers and volumes were not promised. The file system here is barely large
 * enough.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { openQemuCompute, type QemuCompute } from '../../../../../src/drivers/compute/qemu/driver.ts';
import { QemuHost } from '../../../../../src/drivers/compute/qemu/host.ts';
import { toStoredSpec } from '../../../../../src/drivers/compute/qemu/machine/install.ts';
import { writeRecord } from '../../../../../src/drivers/compute/qemu/record.ts';
import { stopCopies } from '../../../../../src/drivers/compute/qemu/storage/background-copy.ts';
import { copySnapshot } from '../../../../../src/drivers/compute/qemu/storage/snapshots.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import { findProgram } from '../../../../support/installed-programs.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../../../../support/runs.ts';
import { failsAs, machineSpec } from '../../compute-world.ts';

const MIB = 1024 ** 2;
/** The driver's minimum of free space, two disks of 1 GiB, and space for one of the snapshots. */
const SIZE_MIB = 2048 + 2 * 1024 + 64;
const WRITTEN_MIB = 40;

function cannotMount(): string | false {
  if (process.getuid?.() !== 0) return 'mounting needs root';
  return ['qemu-img', 'flock'].find((name) => !findProgram([name])) ?? false;
}

describe('space for snapshots', { skip: IS_FULL_RUN ? cannotMount() : FULL_ONLY.skip }, () => {
  let dir: string;
  let host: QemuHost;
  let driver: QemuCompute;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'skerry-room-'));
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'skerry-test', dir]);
    host = new QemuHost({
      ...{ dir, hosts: ['one'], accelerator: 'tcg', netns: null },
      log: createLogger('silent'),
    });
    driver = openQemuCompute(host.options);
    for (const id of ['one', 'two']) await keep(id);
  });
  after(async () => {
    await run('umount', [dir]);
    await rm(dir, { recursive: true });
  });

  /** Writes a machine that is off, with a partly written disk of 1 GiB. */
  const keep = async (id: string) => {
    await mkdir(host.layout.machine(id), { recursive: true });
    const raw = host.layout.machine(id, 'raw');
    await writeFile(raw, randomBytes(WRITTEN_MIB * MIB));
    await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, host.layout.disk(id, 1)]);
    await rm(raw);
    await writeRecord(host.layout, {
      ...{ spec: { ...toStoredSpec(machineSpec({ id, host: 'one' })), diskGb: 1 }, generation: 1 },
      ...{ power: 'off', installingSince: null, answersSince: null, rescue: null, filter: null },
      traffic: { bitsPerS: null, mail: false },
    });
  };
  const ready = async (machine: string, id: string) => {
    while ((await driver.snapshot(machine, id)).state === 'creating') await pause(20);
    assert.equal((await driver.snapshot(machine, id)).state, 'ready');
  };

  it('of two concurrent snapshots only one starts if one fits, the other after its deletion', async () => {
    const asked = [
      { machine: 'one', id: 'a' },
      { machine: 'two', id: 'b' },
    ];
    const outcomes = await Promise.allSettled(asked.map(({ machine, id }) => driver.snapshot(machine, id)));
    const begun = asked.filter((_, n) => outcomes[n]?.status === 'fulfilled');
    const refused = asked.filter((_, n) => outcomes[n]?.status === 'rejected');
    assert.deepEqual([begun.length, refused.length], [1, 1]);
    for (const { machine, id } of refused) await failsAs('host', driver.snapshot(machine, id));
    for (const { machine, id } of begun) await ready(machine, id);
    for (const { machine, id } of refused) await failsAs('host', driver.snapshot(machine, id));
    for (const { id } of begun) await driver.removeSnapshot(id);
    for (const { machine, id } of refused) await ready(machine, id);
    for (const { id } of refused) await driver.removeSnapshot(id);
  });

  it('space that a volume was promised is not available', async () => {
    await driver.attach('one', { id: 'vol', sizeGb: 1, device: '/dev/vdb' });
    await failsAs('host', driver.snapshot('one', 'c'));
    await driver.removeVolume('vol');
    await ready('one', 'c');
    await driver.removeSnapshot('c');
  });

  it('a restore needs space for its copy, and an unfinished one keeps its space', async (t) => {
    const { layout } = host;
    const path = layout.diskCopy('two', 2, 'd');
    const copy = () => copySnapshot(host, 'd', { machineId: 'two', path, diskGb: 1 });
    t.after(() => stopCopies(layout.machine('two')));
    await ready('one', 'd');
    await run('mount', ['-o', `remount,size=${SIZE_MIB - 1024 + 44}m`, dir]);
    await failsAs('host', copy());
    assert.deepEqual((await readdir(layout.machine('two'))).sort(), ['disk-1.qcow2', 'machine.json']);
    // Like a copy that was killed right after its start: the space it has yet to write stays reserved.
    await run('mount', ['-o', `remount,size=${SIZE_MIB - 1024 + 84}m`, dir]);
    await writeFile(`${path}.lock`, '');
    await failsAs('host', driver.snapshot('two', 'e'));
    await copy();
    await run('mount', ['-o', `remount,size=${SIZE_MIB}m`, dir]);
    await driver.removeSnapshot('d');
  });
});
